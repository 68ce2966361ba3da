internal import CacheBase
internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// Checks the store of one engine. Creates none: if an engine cannot tell whether it has a store without opening it,
/// the check stops there.
struct StoreCheck: Sendable {
  /// The number of entries to check: enough to see that a store works, without a noticeable wait.
  private static let maximumEntries = 100_000

  /// The result of the check.
  struct Result: Sendable {
    var findings: [Finding] = []
    /// Where the store is, or would be; `nil` if the engine cannot tell.
    var path: String?
    /// Whether the store exists; `nil` if the engine cannot tell.
    var exists: Bool?
    /// The sum of the sizes of the payloads, in bytes.
    var payloadBytes = 0
    /// The checked entries that are from the future.
    var ahead = ClockCheck.Ahead()
    /// When the newest file was changed.
    var newestFile: Timestamp?
  }

  let plugin: any StoragePlugin
  let container: AppDIContainer
  let files: any FileInspection

  private var name: String { plugin.declaration.name }

  private var isBounded: Bool { plugin.declaration.capabilities.contains(.bounded) }

  func run() async -> Result {
    var result = Result()
    guard plugin.declaration.capabilities.contains(.persistent) else {
      result.findings = [.ok(name, "keeps nothing when the process ends")]
      result.exists = false
      return result
    }
    // The address that nobody has configured may lead to a server of someone else.
    guard !plugin.declaration.isOnServer || name == container.configuration.storeEngine else {
      result.findings = [.ok(name, "is on a server, which is looked at if it is the configured backend")]
      return result
    }
    do throws(CacheError) {
      let configuration = try container.engineConfiguration(for: plugin.declaration)
      let inspection = try await plugin.inspect(configuration)
      (result.path, result.exists) = (inspection.path, inspection.exists)
      if !isBounded { result.findings = [.ok(name, inspection.limitsText(of: name))] }
      if let caution = inspection.caution { result.findings.append(.warning(name, caution, hint: "")) }
      guard inspection.exists else {
        result.findings.append(.ok(name, "no store yet at \(inspection.path)"))
        return result
      }
      lookAtFiles(inspection, &result)
      lookAtUses(configuration, &result)
      if let crashed = CrashedStore(plugin, configuration) {
        result.findings.append(.problem(name, crashed.error))
      } else if isReadable(inspection, &result) {
        await open(configuration, inspection, &result)
      }
    } catch {
      let failure = container.configuration.namingSource(of: error, backend: name)
      result.findings.append(
        failure.code == .unsupported ? .ok(name, "is not looked at: \(failure.message)") : .problem(name, failure))
    }
    return result
  }

  /// Checks who may change the files, and which processes use them.
  private func lookAtFiles(_ inspection: StoreInspection, _ result: inout Result) {
    let folders = FolderChecks(files: files)
    let found = inspection.files.compactMap { path in files.file(at: path).map { (path: path, file: $0) } }
    result.newestFile = found.map(\.file.changedAt).max().map { Timestamp(milliseconds: $0) }
    for (path, file) in found {
      result.findings += folders.unsafe(file, path, name)
      guard file.isReadableByOthers, !file.isWritableByOthers, file.kind == .file else { continue }
      result.findings.append(
        .warning(name, "\(path) can be read by others (permissions \(file.modeText))", hint: "chmod 600 \(path)"))
    }
    if let (path, _) = found.first(where: { $0.file.kind == .file && !files.mayWrite($0.path) }) {
      result.findings.append(
        .warning(name, "\(path) may only be read: nothing new is stored", hint: "chmod u+w \(path), if you own it"))
    }
    if let file = files.file(at: inspection.path), file.kind == .file, file.links > 1 {
      result.findings.append(
        .warning(
          name,
          "\(inspection.path) has \(file.links) names (hard links): programs that use it by different names damage it",
          hint: "while nothing uses it, give each name a copy of its own"))
    }
    let holders = StoreHolders(files: files).holders(of: inspection.files)
    if !holders.isEmpty {
      result.findings.append(.ok(name, "in use by \(holders.map(\.description).joined(separator: ", "))"))
    }
  }

  /// Checks that the file for the uses of entries is one: nothing is recorded in the file of someone else.
  private func lookAtUses(_ configuration: EngineConfiguration, _ result: inout Result) {
    let home = container.configuration.home
    guard let path = UseTable.foreignFile(of: plugin.declaration, configuration, home: home) else { return }
    result.findings.append(
      .warning(
        name, "\(path) is not a file of cachectl: hits, evictions and the uses of entries are not recorded",
        hint: "move it to another place"))
  }

  /// Whether the format is the current one. A store of another format is not opened.
  private func isReadable(_ inspection: StoreInspection, _ result: inout Result) -> Bool {
    let current = inspection.currentFormat
    guard let format = inspection.format else {
      result.findings.append(
        .problem(
          name, .damaged, "\(inspection.path) is there, but its format cannot be read",
          hint: "see: cachectl --backend \(name) verify"))
      return false
    }
    if format != current {
      result.findings.append(
        .problem(
          name, .unsupportedFormat,
          "\(inspection.path) is of format version \(format), and this program reads only version \(current)",
          hint: "use the cachectl that wrote it, or another path"))
    }
    return format == current
  }

  private func open(_ configuration: EngineConfiguration, _ inspection: StoreInspection, _ result: inout Result) async {
    do throws(CacheError) {
      let engine = try await plugin.open(configuration)
      do throws(CacheError) {
        let (seen, isAll) = try await look(engine, &result.ahead)
        let count = (isBounded ? try await engine.count() : seen).withoutLeases
        result.payloadBytes = count.payloadBytes
        let number = NumberText.count(count.entries, "entry", "entries")
        let entries = isBounded || isAll ? number : "more than \(number)"
        result.findings.append(
          .ok(name, "\(inspection.path) opens: \(entries), format version \(inspection.currentFormat)"))
      } catch {
        try? await engine.close()
        throw error
      }
      try await engine.close()
    } catch {
      let isDamage = error.code == .damaged
      let hint = isDamage ? "cachectl --backend \(name) verify --repair" : ErrorView(error).hint
      result.findings.append(
        .problem(name, error.code, error.message, hint: hint))
    }
  }

  /// Looks at the first entries, and returns how many they are, and whether there are no others.
  private func look(
    _ engine: any StorageEngine, _ ahead: inout ClockCheck.Ahead
  ) async throws(CacheError) -> (seen: StoreCount, isAll: Bool) {
    var request = ScanRequest()
    var seen = StoreCount()
    var left = Self.maximumEntries
    repeat {
      let page = try await engine.scan(request)
      for entry in page.entries {
        ahead.add(entry, at: container.clock.now)
        seen[entry.key.namespace].add(payloadBytes: entry.payloadBytes, retainUntil: entry.metadata.retainUntil)
      }
      request.position = page.next
      left -= page.entries.count
    } while request.position != nil && left > 0 && !Task.isCancelled
    return (seen, request.position == nil)
  }
}

extension StoreInspection {
  /// The limits of the store of the engine called `name`, which is not `bounded`.
  func limitsText(of name: String) -> String {
    let own = limits.map { " (\($0))" } ?? ""
    return "cache.maxEntries and cache.maxBytes do not apply: \(name) has its own limits and evicts by itself\(own)"
  }
}

/// Looks for leftovers in the folders of stores.
struct LeftoverCheck: Sendable {
  let files: any FileInspection

  /// The leftovers in `home`, and in the folders of the stores found.
  func findings(home: String, stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    // An engine moves a store aside next to the target of a link, and not next to the link.
    let paths = stores.compactMap(\.result.path).map { files.target(of: $0) == nil ? $0 : files.realPath(of: $0) ?? $0 }
    return usage(home, stores) + Set(paths).sorted().compactMap(setAside)
  }

  /// The files about the use of stores that are gone. One is named after the store next to it, or after the engine if the
  /// store has no path. Only the server knows whether a store at another address is gone.
  private func usage(_ home: String, _ stores: [(name: String, result: StoreCheck.Result)]) -> [Finding] {
    let names = files.names(in: home)
    let there = Set(names + stores.filter { $0.result.exists != false }.map(\.name))
    // Of a server only one address has been asked.
    let engines = stores.map(\.name)
    let found = names.filter { name in
      UseTable.store(ofFile: name, unlessOnServerOf: engines).map { !there.contains($0) } ?? false
    }
    return found.map { name in
      .warning("usage", "\(home)/\(name) records the use of a store that no longer exists", hint: "rm \(home)/\(name)")
    }
  }

  /// What was moved aside next to the store at `path`, and its size.
  private func setAside(_ path: String) -> Finding? {
    let folder = SystemFileInspection.parent(of: path)
    let start = path.dropFirst(folder == "/" ? 1 : folder.utf8.count + 1) + ".damaged-"
    let names = files.names(in: folder).filter { $0.hasPrefix(start) }
    guard let first = names.first else { return nil }
    let bytes = names.reduce(0) { sum, name in
      let path = "\(folder)/\(name)"
      // Not a folder's own size, but that of the files in it.
      let inside = files.names(in: path).map { "\(path)/\($0)" }
      return sum + (inside.isEmpty ? [path] : inside).reduce(0) { $0 + (files.file(at: $1)?.size ?? 0) }
    }
    let more = names.count > 1 ? "\(names.count - 1) more, " : ""
    return .warning(
      "set aside", "\(folder)/\(first) was moved aside as damaged (\(more)\(ByteCountText.text(bytes)))",
      hint: "delete it if you have no more use for it")
  }
}
