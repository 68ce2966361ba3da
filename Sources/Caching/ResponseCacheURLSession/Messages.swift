internal import CacheCore
internal import FetchVocabulary
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension HTTP.Request {
  /// Creates the message for `request`, without its content. Credentials in the URL become a field.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the URL names no web server.
  init(_ request: URLRequest) throws(CacheError) {
    guard let url = request.url else { throw CacheError(URLError(.badURL)) }
    let fields = (request.allHTTPHeaderFields ?? [:]).sorted { $0.key < $1.key }
    self.init(
      method: request.httpMethod ?? "GET", url: try Self.normalizedURL(url.absoluteString),
      fields: HTTP.Fields(fields.map { HTTP.Fields.Field($0.key, $0.value) }))
    guard let user = url.user(percentEncoded: false), !self.fields.contains("authorization") else { return }
    let credentials = Data("\(user):\(url.password(percentEncoded: false) ?? "")".utf8)
    self.fields.append("Authorization", "Basic \(credentials.base64EncodedString())")
  }
}

extension HTTP.ResponseHead {
  /// Creates the head of `response`, with fields sorted by name, as their original order is lost.
  init(_ response: HTTPURLResponse) {
    let fields = response.allHeaderFields.map { HTTP.Fields.Field("\($0.key)", "\($0.value)") }
    self.init(status: response.statusCode, fields: HTTP.Fields(fields.sorted { $0.name < $1.name }))
  }

  /// Creates the head of `response` after `URLSession` has undone its content coding, which left `count` bytes. That is
  /// another representation, which a strong tag must not name (RFC 9110, section 8.8.3.3).
  init(_ response: HTTPURLResponse, decoded count: Int) {
    self.init(response)
    guard let coding = fields["content-encoding"], coding.lowercased() != "identity" else { return }
    fields["Content-Encoding"] = nil
    fields["Content-Length"] = count > 0 ? String(count) : nil
    if let tag = fields["etag"], !tag.hasPrefix("W/") { fields["ETag"] = "W/\(tag)" }
  }
}

extension HTTPURLResponse {
  /// Creates the response that a program gets, with the head `head` from `url`; `nil` if that is not a URL. The
  /// response to `request` itself has the request's own URL.
  convenience init?(_ head: HTTP.ResponseHead, url text: String, of request: URLRequest) {
    let isOwn = request.url.map { (try? HTTP.Request.normalizedURL($0.absoluteString)) == text } ?? false
    guard let url = isOwn ? request.url : URL(string: text) else { return nil }
    let names = head.fields.lines.map { ($0.name, head.fields[$0.name] ?? "") }
    self.init(
      url: url, statusCode: head.status, httpVersion: head.version?.rawValue ?? "HTTP/1.1",
      headerFields: Dictionary(names, uniquingKeysWith: { first, _ in first }))
  }
}

extension CacheError {
  /// The cache's error for a failure of `URLSession`. The failure stays its cause, and is what the program gets.
  ///
  /// - Parameter beginning: the part of the response that arrived before the failure.
  init(_ error: any Error, beginning: HTTP.Response? = nil) {
    let failure = error as? URLError ?? URLError(.unknown, userInfo: [NSUnderlyingErrorKey: error])
    let code: Code =
      switch failure.code {
      case .cancelled: .cancelled
      case .badURL: .invalidRequest
      case .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData: .invalidAnswer
      default: .originUnreachable
      }
    // Without a length the content cannot be continued, and decoded content has lost its original bytes.
    let fields = beginning?.head.fields
    let isContinuable =
      code == .originUnreachable && fields?.contains("content-length") == true
      && fields?.contains("content-encoding") == false
    let cause: any Error =
      if isContinuable, let beginning { IncompleteResponse(beginning, cause: failure) } else { failure }
    self.init(code, failure.localizedDescription, cause: cause)
  }
}

extension URLError {
  /// The failure of a task for `url` because of `error`: what `URLSession` itself reported, or the closest code.
  init(_ error: CacheError, url: URL?) {
    if let reported = error.underlying(URLError.self) {
      self = reported
      return
    }
    let code: URLError.Code =
      switch error.code {
      case .cancelled: .cancelled
      case .notCached: .resourceUnavailable
      case .invalidRequest: .badURL
      case .invalidAnswer: error.underlying(TooManyRedirects.self) == nil ? .badServerResponse : .httpTooManyRedirects
      case .originUnreachable: .cannotConnectToHost
      // The store failed when only it was allowed.
      default: .cannotOpenFile
      }
    var userInfo: [String: Any] = [NSLocalizedDescriptionKey: error.message, NSUnderlyingErrorKey: error]
    if let url { userInfo[NSURLErrorFailingURLErrorKey] = url }
    self.init(code, userInfo: userInfo)
  }
}

extension CacheError {
  /// The first underlying error of this type.
  fileprivate func underlying<Failure: Error>(_ type: Failure.Type) -> Failure? {
    var next = cause
    while let error = next {
      if let found = error as? Failure { return found }
      next = (error as? CacheError)?.cause
    }
    return nil
  }
}
