import CacheCore
import FetchVocabulary
import Synchronization

/// A storage of responses in memory that can fail on demand.
final class ShelfOfResponses: HTTPResponseStorage {
  private struct State {
    var kept: [String: StoredResponse<HTTPResponse>] = [:]
    var lookUps: [Bool] = []
    var writeError: CacheError?
    var versions: UInt64 = 0
    var damaged: Set<String> = []
  }

  private let state = Mutex(State())
  private let error: CacheError?

  init(failing error: CacheError? = nil) {
    self.error = error
  }

  /// Makes storing fail from now on.
  func failToStore(_ error: CacheError) { state.withLock { $0.writeError = error } }

  /// Makes the response under `key` unreadable from now on.
  func damage(_ key: String) { _ = state.withLock { $0.damaged.insert(key) } }

  func removeAll() { state.withLock { $0.kept = [:] } }

  var keys: [String] { state.withLock { $0.kept.keys.sorted() } }
  var lookUps: [Bool] { state.withLock { $0.lookUps } }

  func variants(of url: String) async throws(CacheError) -> [StoredVariant] {
    let damaged = state.withLock { state in state.damaged.contains { state.kept[$0] != nil && $0.hasPrefix("\(url) ") }
    }
    if damaged { throw CacheError(.damaged, "an entry is damaged") }
    if let error { throw error }
    return state.withLock { state in
      state.kept.filter { $0.key.hasPrefix("\(url) ") }.map { StoredVariant(key: $0.key, head: $0.value.head) }
    }
  }

  func response(under key: String) async throws(CacheError) -> StoredResponse<HTTPResponse>? {
    state.withLock { $0.kept[key] }
  }

  func store(
    _ body: [UInt8], head: StoredHead, for url: String, replacing replaced: [String], expecting version: UInt64?
  ) async throws(CacheError) -> String {
    if let error = error ?? state.withLock({ $0.writeError }) { throw error }
    let key = key(of: url, selector: head.selector)
    let isStored = state.withLock { state in
      guard version == nil || state.kept[key]?.version == version else { return false }
      for key in replaced { state.kept[key] = nil }
      state.versions += 1
      state.kept[key] = StoredResponse(
        key: key, response: HTTPResponse(head.head, body: body), head: head, version: state.versions)
      return true
    }
    guard isStored else { throw CacheError(.conflict, "another version is stored") }
    return key
  }

  func remove(_ keys: [String]) async throws(CacheError) {
    state.withLock { state in
      for key in keys { state.kept[key] = nil }
    }
  }

  func key(of url: String, selector: VariantSelector) -> String { "\(url) \(selector.digest)" }

  func countLookUp(_ key: String?) { state.withLock { $0.lookUps.append(key != nil) } }
}
