/// The options of every fetch.
struct FetchFlags: ParsableArguments {
  @Option(help: "Choose whether the cache, the origin or both respond")
  var policy: FetchPolicy?

  @Flag(help: "Serve from the cache only; the same as --policy cache-only")
  var offline = false

  @Flag(help: "Request from the origin; the same as --policy network-only")
  var refresh = false

  @Option(help: ArgumentHelp("Revalidate an entry that is older than DURATION, such as 5m", valueName: "duration"))
  var maxAge: DurationText?

  @Option(help: ArgumentHelp("Accept an entry that has been stale for at most DURATION", valueName: "duration"))
  var maxStale: DurationText?

  @Flag(help: "Fail (exit code 74) if the response cannot be stored")
  var requireStore = false

  @Flag(help: "Fail (exit code 69) if only a stale copy can be served")
  var requireFresh = false

  func validate() throws(ValidationError) {
    if [policy != nil, offline, refresh].count(where: { $0 }) > 1 {
      throw ValidationError("--policy, --offline and --refresh exclude each other")
    }
  }

  var options: FetchOptions {
    let policy = offline ? .cacheOnly : refresh ? .networkOnly : policy ?? .cacheFirst
    return FetchOptions(
      policy: policy, maxAge: maxAge?.duration, maxStale: maxStale?.duration, requiresFresh: requireFresh)
  }
}

extension FetchPolicy: ExpressibleByArgument {}
extension DurationText: ExpressibleByArgument {
  /// The duration that `argument` spells, such as `1h30m`.
  public init?(argument: String) { self.init(argument) }

  /// Shown with examples when a value cannot be read.
  public static var argumentExpectation: String? { "a duration such as 90s, 5m or 1h30m" }
}
