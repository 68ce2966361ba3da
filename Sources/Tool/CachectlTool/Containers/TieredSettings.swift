internal import FetchVocabulary
internal import CacheConfiguration
internal import CacheCore
internal import EngineAPI

/// The section of the engine `tiered`, which is made of two others: a local store on this machine in front of a remote
/// store that several machines share. See `TieredLayer`.
struct TieredSettings: ConfigurationSection {
  /// What `backend` is set to.
  static let name = "tiered"
  static let path = "backends.tiered"
  /// What to do if the name of a single engine is needed.
  static let advice =
    "it is made of two engines: name one of these, see backends.tiered.local and backends.tiered.remote"

  let local: String
  let remote: String
  let localMaxBytes: Int
  let localMaxAge: Duration

  init(_ keys: inout SectionReader) {
    local =
      keys.key(
        "local", .option(.text), default: .text("lmdb"), variable: "TIERED_LOCAL",
        help: "the engine of the local store, which has copies on this machine")?.text ?? ""
    remote =
      keys.key(
        "remote", .option(.text), default: .text("redis"), variable: "TIERED_REMOTE",
        help: "the engine of the remote store, which machines share, with the options in its own section")?.text ?? ""
    localMaxBytes =
      keys.key(
        "localMaxBytes", .option(.size(1_024...(1 << 50))), default: .integer(256 << 20),
        variable: "TIERED_LOCAL_MAX_BYTES",
        help: "the maximum size of all payloads in the local store")?.number.map { Int($0) } ?? 0
    localMaxAge = .milliseconds(
      keys.key(
        "localMaxAge", .option(.duration(0...315_360_000_000)), default: .integer(60_000),
        variable: "TIERED_LOCAL_MAX_AGE", help: "how long a local copy is used before the remote store is read again")?
        .number ?? 0)
  }
}

extension Configuration {
  /// The engine `tiered`, made of those of `catalogue`.
  ///
  /// - Throws: `CacheError`: `unknownBackend`, or `invalidOption` if the local store cannot be in front of the remote one.
  func tiered(_ catalogue: PluginCatalogue) throws(CacheError) -> TieredLayer {
    let settings = section(TieredSettings.self)
    let remote = try catalogue.plugin(named: settings.remote)
    // Only the library of the remote engine is loaded.
    let possible = catalogue.builtIn.filter { !$0.isOnServer }.map(\.name)
    guard possible.contains(settings.local) else {
      throw CacheError(
        .unknownBackend, "backends.tiered.local: '\(settings.local)' is not an engine for a local store",
        hint: "use one of: \(possible.filter { $0 != settings.remote }.joined(separator: ", "))")
    }
    guard settings.local != settings.remote else {
      throw CacheError(
        .invalidOption, "\(settings.local) cannot be put in front of itself",
        hint: "set backends.tiered.local or backends.tiered.remote to another engine")
    }
    let local = try catalogue.plugin(named: settings.local)
    let values = options(of: settings.remote)
    let path = UseTable.storePath(of: remote.declaration, { values[$0] }, home: home) ?? home
    let hasFiles = local.declaration.capabilities.contains(.persistent)
    return TieredLayer(
      over: remote,
      local: StorageLocation(local, hasFiles ? ["path": .text("\(path).local/\(settings.local)")] : [:]),
      limits: StoreLimits(maxEntries: cache.limits.maxEntries, maxBytes: settings.localMaxBytes),
      localMaxAge: settings.localMaxAge)
  }
}
