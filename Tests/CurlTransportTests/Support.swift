import CacheBase
import CurlTransport
import HTTPCaching
import Synchronization
import Testing

extension HTTPTransferService {
  /// A service that ignores the environment. Its timeout ends no test, however long a busy machine holds one up.
  static func plain(
    _ options: TransportOptions = TransportOptions(), timeout: Duration = .seconds(1_800),
    content: Content = .streamed, environment: [String: String] = [:]
  ) -> HTTPTransferService {
    HTTPTransferService(timeout: timeout, content: content, options: options) { environment[$0] }
  }

  func get(_ url: String, limit: Int = 1 << 20) async throws(CacheError) -> HTTP.Response {
    let request = HTTP.Request(url: url)
    return try await transfer(request).gathered(limit: limit, for: request)
  }
}

extension StreamedContent {
  /// The texts, one after another.
  static func pieces(_ texts: [String], length: Int?) -> StreamedContent {
    let rest = Mutex(texts[...])
    return StreamedContent(length: length) { rest.withLock { $0.popFirst().map { Array($0.utf8) } } }
  }
}

/// The expectations for a failure: its code, and words of its message.
struct Failure: Sendable {
  let code: CacheError.Code
  let words: String

  static let cutOff = Failure(code: .originUnreachable, words: "broke off before its end")
  static let invalidMessage = Failure(code: .invalidAnswer, words: "is not valid HTTP")
  static let headTooLarge = Failure(code: .invalidAnswer, words: "has a header that is too long")
  static let tls = Failure(code: .originUnreachable, words: "there is no secure connection to")
  static let unusableFile = Failure(code: .originUnavailable, words: "a certificate or key cannot be used")
  static let unknownName = Failure(code: .originUnreachable, words: "the name of example.invalid is not known")

  /// Checks that `error` is this failure, and shows no secret.
  func expect(_ error: CacheError?, _ location: SourceLocation = #_sourceLocation) {
    #expect(
      error?.code == code && error?.message.contains(words) == true, "\(String(describing: error))",
      sourceLocation: location)
    #expect(!String(reflecting: error).contains("hidden"), sourceLocation: location)
  }
}

/// The error of `body`; `nil` if it succeeds.
func failure<Value>(of body: () async throws(CacheError) -> Value) async -> CacheError? {
  do throws(CacheError) {
    _ = try await body()
    return nil
  } catch { return error }
}

/// The open descriptors of this process. Other tests open and close some too, so the tests count only connections to
/// one server's port.
enum OpenDescriptors {
  /// The number of open descriptors.
  static var all: Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 } }

  /// The number of connections to `port`.
  static func connections(to port: Int) -> Int {
    (0..<Int32(4096)).count { descriptor in
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
      }
      return result == 0 && UInt16(bigEndian: address.sin_port) == UInt16(port)
    }
  }
}
