internal import CacheBase
internal import CacheConfiguration
internal import CacheCore
internal import CachePresentation
internal import EngineAPI
internal import FetchVocabulary

/// Checks the store of one engine. Creates none: if an engine cannot tell whether it has a store without opening it,
/// the check stops there.
struct StoreCheck: Sendable {
  struct Result: Sendable {
    var findings: [Finding] = []
    /// The actual or intended path of the store; `nil` if the engine cannot tell.
    var path: String?
    /// The sum of the sizes of the payloads, in bytes.
    var payloadBytes = 0
    /// When the newest file was changed.
    var newestFile: Timestamp?
  }

  let plugin: any StoragePlugin
  let container: AppDIContainer
  let checks: FileChecks

  private var name: String { plugin.declaration.name }

  private var isBounded: Bool { plugin.declaration.capabilities.contains(.bounded) }

  func run() async -> Result {
    var result = Result()
    guard plugin.declaration.capabilities.contains(.persistent) else {
      result.findings = [.ok(name, "keeps nothing when the process ends")]
      return result
    }
    // Without a configured address, the default one can belong to another program's server.
    guard !plugin.declaration.isOnServer || name == container.configuration.storeEngine else {
      result.findings = [.ok(name, "is on a server, which is looked at if it is the configured backend")]
      return result
    }
    do throws(CacheError) {
      try await look(&result)
    } catch {
      let failure = container.configuration.namingSource(of: error, backend: name)
      result.findings.append(
        failure.code == .unsupported ? .ok(name, "is not looked at: \(failure.message)") : .problem(name, failure))
    }
    return result
  }

  private func look(_ result: inout Result) async throws(CacheError) {
    let configuration = try container.engineConfiguration(for: plugin.declaration)
    let inspection = try await plugin.inspect(configuration)
    result.path = inspection.path
    if !isBounded { result.findings = [.ok(name, plugin.declaration.text(ofLimits: inspection.limits))] }
    if let caution = inspection.caution { result.findings.append(.warning(name, caution, hint: "")) }
    guard inspection.exists else {
      result.findings.append(.ok(name, "no store yet at \(inspection.path)"))
      return
    }
    result.findings += checks.store(inspection.files, name)
    let changes = inspection.files.compactMap { checks.files.file(at: $0)?.changedAt }
    result.newestFile = changes.max().map { Timestamp(milliseconds: $0) }
    if let path = UseTable.foreignFile(of: plugin.declaration, configuration, home: container.configuration.home) {
      result.findings.append(
        .warning(
          name, "\(path) is not a file of cachectl: hits, evictions and the uses of entries are not recorded",
          hint: "move it to another place"))
    }
    if let crashed = CrashedStore(plugin, configuration) {
      result.findings.append(.problem(name, crashed.error))
    } else if let problem = formatProblem(inspection) {
      result.findings.append(problem)
    } else {
      await open(configuration, inspection, &result)
    }
  }

  /// The problem with the format of a store, which is then not opened; `nil` if it is the current one.
  private func formatProblem(_ inspection: StoreInspection) -> Finding? {
    let current = inspection.currentFormat
    guard let format = inspection.format else {
      return .problem(
        name, .damaged, "\(inspection.path) is there, but its format cannot be read",
        hint: "see: cachectl --backend \(name) verify")
    }
    if format == current { return nil }
    return .problem(
      name, .unsupportedFormat,
      "\(inspection.path) is of format version \(format), and this program reads only version \(current)",
      hint: "use the cachectl that wrote it, or another path")
  }

  /// Opens the store, reads the first entries, and counts all of them, except on a server, because that takes long.
  private func open(_ configuration: EngineConfiguration, _ inspection: StoreInspection, _ result: inout Result) async {
    do throws(CacheError) {
      let engine = try await plugin.open(configuration)
      var count = StoreCount()
      do throws(CacheError) {
        _ = try await engine.scan(ScanRequest())
        if isBounded { count = try await engine.count().withoutLeases }
      } catch {
        try? await engine.close()
        throw error
      }
      try await engine.close()
      result.payloadBytes = count.payloadBytes
      let entries = isBounded ? "\(NumberText.count(count.entries, "entry", "entries")), " : ""
      result.findings.append(
        .ok(name, "\(inspection.path) opens: \(entries)format version \(inspection.currentFormat)"))
    } catch {
      let isDamage = error.code == .damaged
      let hint = isDamage ? "cachectl --backend \(name) verify --repair" : ErrorView(error).hint
      result.findings.append(.problem(name, error.code, error.message, hint: hint))
    }
  }
}

extension EngineDeclaration {
  /// The limits of a store of this engine, which is not `bounded`.
  func text(ofLimits limits: String?) -> String {
    let own = limits.map { " (\($0))" } ?? ""
    return "cache.maxEntries and cache.maxBytes do not apply: \(name) has its own limits and evicts by itself\(own)"
  }
}
