/// What selects one of several responses to the same URL (RFC 9111, section 4.1): the values of the request's header
/// fields that the response's `Vary` names, and the credentials, which select whatever `Vary` says.
///
/// Only a digest of the values is kept, so that no secret of a request gets into a store.
public struct VariantSelector: Sendable, Hashable {
  /// The names of the fields, in lower case and order, and `*` where credentials do not matter.
  public let names: [String]
  /// A digest of their values; empty where no field is named and there are no credentials.
  public let digest: String

  /// The selector of a response that answers every request.
  public static let always = VariantSelector(names: [], digest: "")

  /// A selector that was stored.
  public init(names: [String], digest: String) {
    self.names = names
    self.digest = digest
  }

  /// What stands among the names for: with whatever credentials. No field is called so.
  private static let anybody = "*"

  /// Fields whose values mean the same in any case (RFC 9110, sections 12.5.2 to 12.5.4).
  private static let caseInsensitive: Set = ["accept-charset", "accept-encoding", "accept-language"]

  /// What selects the response with the header fields `response` to `request`; `nil` where nothing will ever select it
  /// (`Vary: *`).
  ///
  /// - Parameter isShared: whether the cache is shared. What it stores of an answer to credentials is an answer that
  ///   the origin allows to everybody (RFC 9111, section 3.5).
  public init?(response: HTTPFields, request: HTTPRequest, isShared: Bool = false) {
    var names = Set(FieldList.names(response.values(of: "vary").joined(separator: ",")))
    guard !names.contains("*") else { return nil }
    if isShared, request.hasCredentials { names.insert(Self.anybody) }
    self.init(names: names.sorted(), request: request)
  }

  private init(names: [String], request: HTTPRequest) {
    let isPlain = names.isEmpty && !request.hasCredentials
    let isForAnybody = names.contains(Self.anybody)
    let fields = isForAnybody ? names.filter { $0 != Self.anybody } : names + ["authorization"]
    let identity = isForAnybody ? nil : request.shownIdentity
    self.init(names: names, digest: isPlain ? "" : Self.digest(fields, request.fields, identity))
  }

  /// Whether the response is one that may answer `request`.
  public func selects(_ request: HTTPRequest) -> Bool {
    VariantSelector(names: names, request: request) == self
  }

  private static func digest(_ names: [String], _ request: HTTPFields, _ identity: String?) -> String {
    var digest = SHA256()
    // No field is called so.
    if let identity { digest.update(Array("client certificate\0\(identity)\0".utf8)) }
    for name in names {
      // White space and the way in which a list is spread over lines do not make another value.
      let members = FieldList.members(request.values(of: name).joined(separator: ","))
      let value = request.contains(name) ? members.joined(separator: ",") : "\0"
      let comparable = caseInsensitive.contains(name) ? value.lowercased() : value
      digest.update(Array("\(name)\0\(comparable)\0".utf8))
    }
    return digest.hexText
  }
}
