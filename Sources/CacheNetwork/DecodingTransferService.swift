public import CacheData
public import CacheDomain

/// Asks servers for compressed content, and undoes the compression: for what is read and not passed on.
///
/// It asks where a request says nothing of `Accept-Encoding`. A response loses its `Content-Encoding` and has the length
/// of what it was; a coding that is not known here stays. A request for a part is passed on as it is, and so is its
/// response: compression of a part cannot be undone.
public struct DecodingTransferService: DataTransferService {
  private static let name = "Accept-Encoding"
  /// A server that applies more does it to keep the client busy: what is left stays as it is.
  private static let maximumCodings = 4

  private let base: any DataTransferService
  private let maxResponseBytes: Int

  /// A service in front of `base` that gives no content of more than `maxResponseBytes`.
  public init(_ base: any DataTransferService, maxResponseBytes: Int) {
    self.base = base
    self.maxResponseBytes = maxResponseBytes
  }

  /// The answer of `base` without compression.
  ///
  /// - Throws: `CacheError`: what `base` throws; `invalidAnswer` where the content is not what its coding says, or too
  ///   long.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    if request.fields.contains("range") { return try await base.transfer(request) }
    var asking = request
    if !asking.fields.contains(Self.name) { asking.fields.append(Self.name, "gzip, deflate") }
    var response = try await base.transfer(asking)
    guard !response.body.isEmpty else { return response }
    do throws(Inflater.Failure) {
      for _ in 0..<Self.maximumCodings {
        guard let coding = response.head.fields.lastCoding, let inflater = Inflater(coding) else { break }
        response.body = try inflater.inflate(response.body, limit: maxResponseBytes)
        response.head.fields.removeLastCoding()
        response.head.fields["content-length"] = String(response.body.count)
      }
      return response
    } catch {
      throw Self.error(error, request.authority ?? "the server", limit: maxResponseBytes)
    }
  }

  private static func error(_ failure: Inflater.Failure, _ server: String, limit: Int) -> CacheError {
    switch failure {
    case .tooLarge:
      CacheError(
        .invalidAnswer, "the answer of \(server) is larger than \(limit) bytes",
        hint: "raise the setting 'maxResponseBytes' where that is right")
    case .damaged:
      CacheError(
        .invalidAnswer, "the answer of \(server) is not compressed in the way that it says", hint: "try again later")
    }
  }
}

extension HTTPFields {
  private static let name = "content-encoding"

  /// The coding that was applied last, in lower case; `nil` where there is none.
  fileprivate var lastCoding: String? { codings.last }

  /// Takes out the coding that was applied last.
  fileprivate mutating func removeLastCoding() {
    let rest = codings.dropLast()
    self[Self.name] = rest.isEmpty ? nil : rest.joined(separator: ", ")
  }

  private var codings: [String] {
    (self[Self.name] ?? "").split(separator: ",").map {
      $0.trimming { $0 == " " || $0 == "\t" }.lowercased()
    }.filter { !$0.isEmpty && $0 != "identity" }
  }
}

extension Substring {
  /// This text without what is white space at its ends.
  fileprivate func trimming(_ isSpace: (Character) -> Bool) -> Substring {
    var rest = drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return rest
  }
}
