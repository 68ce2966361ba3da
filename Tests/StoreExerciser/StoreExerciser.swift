import EngineAPI

/// Uses one store in a separate process, so that tests can kill it, starve it, and run many of it at once.
///
///     StoreExerciser VERB ENGINE PATH [NAME=VALUE]...
///
/// It writes one line for each thing that has happened, unbuffered: a written line has happened even if the process is
/// killed.
@main enum StoreExerciser {
  static func main() async {
    Line.write("START")
    do throws(CacheError) {
      let arguments = try Arguments(CommandLine.arguments)
      try await run(arguments)
      Line.write("END")
    } catch {
      Line.write("ERROR \(error)")
      Line.exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws(CacheError) {
    if let limit = try arguments.number("fileLimit") { try FileSizeLimit.set(limit) }
    let engine = try await arguments.openStore()
    Line.write("OPEN")
    do throws(CacheError) {
      try await run(arguments, engine)
    } catch {
      try await engine.close()
      Line.write("CLOSED")
      throw error
    }
    try await engine.close()
  }

  private static func run(_ arguments: Arguments, _ engine: any StorageEngine) async throws(CacheError) {
    switch arguments.verb {
    case "write": try await Writer(engine, arguments).run()
    case "check": try await Checker(engine, arguments).run()
    case "count": try await Counter(engine, arguments).run()
    case "group": try await GroupWriter(engine, arguments).run()
    case "watch": try await Watcher(engine, arguments).run()
    case "evict": try await Evictor(engine, arguments).write()
    case "checkEvicted": try await Evictor(engine, arguments).check()
    case "writeBounded": try await Sampler(engine, arguments).write()
    case "sample": try await Sampler(engine, arguments).sample()
    default: throw CacheError(.failed, "there is no verb '\(arguments.verb)'")
    }
  }
}
