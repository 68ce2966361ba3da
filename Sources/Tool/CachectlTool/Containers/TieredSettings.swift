internal import CacheConfiguration
internal import CacheCore
internal import EngineAPI

/// The section of the engine `tiered`, which is made of two others: a local store on this machine in front of a remote
/// store that several machines share. See `TieredLayer`.
struct TieredSettings: ConfigurationSection {
  /// The value of `backend`.
  static let name = "tiered"
  static let path = "backends.tiered"
  static let summary = "two of these, a local store in front of a remote one; see backends.tiered.local and .remote"
  /// The hint if the name of a single engine is needed.
  static let advice =
    "it is made of two engines: name one of these, see backends.tiered.local and backends.tiered.remote"

  let local: String
  let remote: String
  let localMaxBytes: Int
  let localMaxAge: Duration

  init(_ keys: inout SectionReader) {
    let usual = PluginCatalogue.usualTiers
    let engines = keys.engines
    // Only the library of the remote engine is loaded.
    let possible = engines.filter { !$0.declaration.isOnServer }.map(\.name)
    local =
      keys.key(
        "local", .option(.choice(possible)), default: possible.contains(usual.local) ? .text(usual.local) : nil,
        help: "the engine of the local store, with copies on this machine")?.text ?? ""
    let reference = keys.key(
      "remote", .backend(engines.map(\.name)), default: .text(usual.remote),
      help: "the engine of the remote store, which machines share; its options are in its own section")
    remote = EngineName.name(of: reference?.text ?? "")
    localMaxBytes = keys.size(
      "localMaxBytes", default: 256 << 20, in: 1_024...(1 << 50),
      help: "the maximum size of all payloads in the local store")
    localMaxAge = keys.duration(
      "localMaxAge", default: .seconds(60),
      help: "the time for which a local copy is used before the remote store is read again")
  }
}

extension Configuration {
  /// The engine `tiered`, made of those of `catalogue`.
  ///
  /// - Throws: `CacheError`: `unknownBackend`, or `invalidOption` if the local store cannot be in front of the remote one.
  func tiered(_ catalogue: PluginCatalogue) throws(CacheError) -> TieredLayer {
    let settings = section(TieredSettings.self)
    let remote = try catalogue.plugin(named: settings.remote)
    guard settings.local != settings.remote else {
      throw CacheError(
        .invalidOption, "\(settings.local) cannot be put in front of itself",
        hint: "set backends.tiered.local or backends.tiered.remote to another engine")
    }
    let local = try catalogue.plugin(named: settings.local)
    let values = try options(of: settings.remote)
    let path = UseTable.storePath(of: remote.declaration, { values[$0] }, home: home) ?? home
    let hasFiles = local.declaration.capabilities.contains(.persistent)
    return TieredLayer(
      over: remote,
      local: StorageLocation(local, hasFiles ? ["path": .text("\(path).local/\(settings.local)")] : [:]),
      limits: StoreLimits(maxEntries: cache.limits.maxEntries, maxBytes: settings.localMaxBytes),
      localMaxAge: settings.localMaxAge)
  }
}
