internal import Base

/// Decides which requests one of several responses to the same URL answers (RFC 9111, section 4.1). It compares the
/// request header fields that the response's `Vary` names, and the credentials, even if `Vary` does not name them.
///
/// It keeps only a digest of the values, so that no secret gets into a store.
public struct VariantSelector: Sendable, Hashable {
  /// The field names, sorted and in lower case, with a `*` if credentials do not matter.
  public let names: [String]
  /// A digest of the field values; empty if no field is named and there are no credentials.
  public let digest: String

  /// The selector of a response that answers every request for its URL.
  public static let always = VariantSelector(names: [], digest: "")

  /// Recreates a stored selector.
  public init(names: [String], digest: String) {
    self.names = names
    self.digest = digest
  }

  /// The name that means "with any credentials". It is not a valid field name.
  private static let anybody = "*"

  /// Fields whose values are case-insensitive (RFC 9110, sections 12.5.2 to 12.5.4).
  private static let caseInsensitive: Set = ["accept-charset", "accept-encoding", "accept-language"]

  /// The selector of the response with the header fields `response` to `request`; `nil` for `Vary: *`, which matches no
  /// further request.
  ///
  /// - Parameter isShared: whether the cache is shared. A shared cache stores an answer to a request with credentials
  ///   only if the origin allows it for all users (RFC 9111, section 3.5).
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

  /// Whether the response may answer `request`.
  public func selects(_ request: HTTPRequest) -> Bool {
    VariantSelector(names: names, request: request) == self
  }

  private static func digest(_ names: [String], _ request: HTTPFields, _ identity: String?) -> String {
    var digest = SHA256()
    // This is not a valid field name.
    if let identity { digest.update(Array("client certificate\0\(identity)\0".utf8)) }
    for name in names {
      // White space, and how a list is spread over lines, do not change the value.
      let members = FieldList.members(request.values(of: name).joined(separator: ","))
      let value = request.contains(name) ? members.joined(separator: ",") : "\0"
      let comparable = caseInsensitive.contains(name) ? value.lowercased() : value
      digest.update(Array("\(name)\0\(comparable)\0".utf8))
    }
    return digest.hexText
  }
}
