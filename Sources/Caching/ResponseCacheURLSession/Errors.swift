internal import CacheCore
internal import FetchVocabulary
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension CacheError {
  /// The cache's error for a failure of `URLSession`. The failure stays its cause, and is what the program gets.
  ///
  /// - Parameter beginning: the part of the response that arrived before the failure.
  init(_ error: any Error, beginning: HTTPResponse? = nil) {
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
      // The store failed when it alone was to answer.
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
