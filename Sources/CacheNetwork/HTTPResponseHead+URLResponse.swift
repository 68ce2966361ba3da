internal import CacheData
internal import Foundation
internal import FoundationNetworking

extension HTTPResponseHead {
  /// The head of `response`, its lines in alphabetical order: the session has them in none.
  init(_ response: HTTPURLResponse) {
    let lines = response.allHeaderFields.map { HTTPFields.Field("\($0.key)", "\($0.value)") }
    self.init(
      status: response.statusCode,
      fields: HTTPFields(lines.sorted { ($0.name.lowercased(), $0.value) < ($1.name.lowercased(), $1.value) }))
  }

  /// The number of bytes of the body as the head says it; `nil` where it does not, or says it of compressed content.
  var contentLength: Int? {
    guard !isCoded, !fields.contains("transfer-encoding") else { return nil }
    return fields["content-length"].flatMap { Int($0) }
  }

  /// This head as it describes `body`, of which the codings of content and transfer were undone.
  func describing(_ body: [UInt8]) -> HTTPResponseHead {
    var head = self
    head.fields["transfer-encoding"] = nil
    guard isCoded, !body.isEmpty else { return head }
    head.fields["content-encoding"] = nil
    head.fields["content-length"] = String(body.count)
    return head
  }

  private var isCoded: Bool {
    fields["content-encoding"].map { !$0.isEmpty && $0.lowercased() != "identity" } ?? false
  }
}
