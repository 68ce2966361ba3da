import EngineAPI
@testable import CacheCore

/// An engine that lists keys in the order of their hashes, with positions that are no keys, as a server does.
final class UnorderedEngine: WrappingEngine {
  let base: any StorageEngine

  init(over base: any StorageEngine) { self.base = base }

  func scan(_ request: ScanRequest) async throws(CacheError) -> ScanPage {
    if request.isDescending { throw CacheError(.unsupported, "there is no order") }
    var start: UInt64 = 0
    if let position = request.position {
      guard position.hasPrefix("#"), let number = UInt64(position.dropFirst()) else {
        throw CacheError(.invalidRequest, "'\(position)' is no position")
      }
      start = number
    }
    let all = ScanRequest(prefix: request.prefix, limit: 1_000_000, includesPayloads: request.includesPayloads)
    var entries = try await base.scan(all).entries.map { (digest: AccessRecord.digest(of: $0.key), entry: $0) }
    entries = entries.filter { $0.digest > start }.sorted { $0.digest < $1.digest }
    let page = entries.prefix(request.limit)
    return ScanPage(page.map(\.entry), next: page.count < entries.count ? page.last.map { "#\($0.digest)" } : nil)
  }
}
