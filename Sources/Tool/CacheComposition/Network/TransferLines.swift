internal import CacheData
internal import CacheDomain

/// Logs transfers as lines for people, such as `GET https://example.com/a?...: 200, 7181 bytes, 120 ms`.
struct TransferLines: TransferLogger {
  let write: @Sendable (String) -> Void

  func log(_ record: TransferRecord) {
    let milliseconds = record.duration / .milliseconds(1)
    let outcome =
      if let status = record.status {
        "\(status), \(record.byteCount) bytes"
      } else {
        record.failure?.rawValue ?? "no answer"
      }
    write("\(record.method) \(record.url): \(outcome), \(Int(milliseconds.rounded())) ms")
  }
}
