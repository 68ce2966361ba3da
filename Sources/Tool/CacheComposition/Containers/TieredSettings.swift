internal import FetchVocabulary
internal import ProgramConfiguration
internal import CacheCore
internal import StorageSPI

/// The section of the engine `tiered`, which is made of two others: one on this machine, near, in front of one that
/// several machines share, far. See `TieredLayer`.
struct TieredSettings: ConfigurationSection {
  /// What `backend` is set to.
  static let name = "tiered"
  static let path = "backends.tiered"
  /// What to do where an engine of its own is asked for.
  static let advice = "it is made of two engines: name one of these, see backends.tiered.near and backends.tiered.far"

  let near: String
  let far: String
  let nearMaxBytes: Int
  let nearMaxAge: Duration

  init(_ keys: inout SectionReader) {
    near =
      keys.key(
        "near", .option(.text), default: .text("lmdb"), variable: "TIERED_NEAR",
        help: "the engine on this machine, which has a folder of its own beside the one of far")?.text ?? ""
    far =
      keys.key(
        "far", .option(.text), default: .text("redis"), variable: "TIERED_FAR",
        help: "the engine that machines share, with the options in its own section")?.text ?? ""
    nearMaxBytes =
      keys.key(
        "nearMaxBytes", .option(.size(1_024...(1 << 50))), default: .integer(256 << 20),
        variable: "TIERED_NEAR_MAX_BYTES",
        help: "how many bytes of payload near keeps at most")?.number.map { Int($0) } ?? 0
    nearMaxAge = .milliseconds(
      keys.key(
        "nearMaxAge", .option(.duration(0...315_360_000_000)), default: .integer(60_000),
        variable: "TIERED_NEAR_MAX_AGE", help: "how long near answers for an entry before far is asked again")?.number
        ?? 0)
  }
}

extension Configuration {
  /// The engine `tiered`, made of those of `catalogue`.
  ///
  /// - Throws: `CacheError`: `unknownBackend`, or `invalidOption` if the two are one engine.
  func tiered(_ catalogue: PluginCatalogue) throws(CacheError) -> TieredLayer {
    let settings = section(TieredSettings.self)
    let far = try catalogue.plugin(named: settings.far)
    // Only the library of far is loaded.
    guard let near = catalogue.plugins.first(where: { $0.declaration.name == settings.near }) else {
      let builtIn = catalogue.builtIn.filter { !$0.isOnServer }.map(\.name)
      throw CacheError(
        .unknownBackend, "backends.tiered.near: '\(settings.near)' is not built in",
        hint: "use one of: \(builtIn.filter { $0 != settings.far }.joined(separator: ", "))")
    }
    guard settings.near != settings.far else {
      throw CacheError(
        .invalidOption, "\(settings.near) cannot be put in front of itself",
        hint: "set backends.tiered.near or backends.tiered.far to another engine")
    }
    let values = options(of: settings.far)
    let path = UseTable.storePath(of: far.declaration, { values[$0] }, home: home) ?? home
    return TieredLayer(
      over: far, near: near, folder: path + ".near",
      limits: StoreLimits(maxEntries: cache.limits.maxEntries, maxBytes: settings.nearMaxBytes),
      nearMaxAge: settings.nearMaxAge)
  }
}
