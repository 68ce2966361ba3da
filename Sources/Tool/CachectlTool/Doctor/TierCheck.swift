internal import CacheComposition
internal import CachePresentation
internal import FetchVocabulary
internal import ResponseStorage
internal import StorageSPI

/// Checks what is on this machine of a store with tiers. Creates no store, and asks no server.
struct TierCheck: Sendable {
  let container: AppDIContainer

  /// What near holds, and the writes that wait for far; nothing without the layer.
  func findings() async -> [Finding] {
    let backend = container.configuration.backend
    do throws(CacheError) {
      guard let layer = try container.engine(backend).plugin.tieredLayer else { return [] }
      let found = try await layer.examineNear(clock: container.clock)
      let far = layer.base.declaration.name
      let name = "\(layer.near.declaration.name) in front of \(far)"
      let entries = found.entries.map { NumberText.count($0, "entry", "entries") } ?? "nothing yet"
      guard found.pendingWrites > 0 else { return [.ok("near", "\(name) has \(entries)")] }
      let writes = NumberText.count(found.pendingWrites, "write", "writes")
      return [
        .warning(
          "near", "\(name) has \(entries), and \(writes) that \(far) did not take because it was away",
          hint: "the next command that reaches \(far) passes them on, such as: cachectl stats")
      ]
    } catch {
      return [.problem("near", error)]
    }
  }
}
