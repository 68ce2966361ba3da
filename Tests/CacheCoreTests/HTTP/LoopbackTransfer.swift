import CacheCore
import FetchVocabulary
import CurlTransport
import TestOrigin

/// Sends requests to a scripted origin with the tool's own transport, through a server on the loopback interface.
final class LoopbackTransfer: DataTransferService {
  private let server: TestServer
  private let carrier = HTTPTransferService(
    timeout: .seconds(600), content: .streamed, environment: { _ in nil })

  /// Starts the server for `origin`.
  ///
  /// - Throws: `SystemFailure`.
  init(_ origin: ScriptedOrigin) throws {
    server = try TestServer { request in
      let fields = request.fields.lines.filter { $0.name.lowercased() != "host" }
      let message = HTTPRequest(
        method: request.method, url: ScriptedOrigin.base + request.target,
        fields: HTTPFields(fields.map { HTTPFields.Field($0.name, $0.value) }), body: request.body)
      return (try? origin.response(to: message)).map { .raw(bytes: Self.bytes($0)) } ?? .hangUp
    }
  }

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    var local = request
    local.url = server.url + request.url.dropFirst(ScriptedOrigin.base.count)
    return try await carrier.transfer(local)
  }

  /// The bytes of `response`, as sent by a server that then closes the connection.
  private static func bytes(_ response: HTTPResponse) -> [UInt8] {
    let heads = (response.interim + [response.head]).map { head in
      (["HTTP/1.1 \(head.status) Reason"] + head.fields.lines.map { "\($0.name): \($0.value)" })
        .map { "\($0)\r\n" }.joined() + "\r\n"
    }
    return FieldText.encode(heads.joined()) + response.body
  }
}
