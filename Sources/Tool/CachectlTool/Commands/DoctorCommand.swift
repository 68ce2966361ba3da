struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Examine the setup, and say how to fix each problem",
    discussion: """
      It examines the configuration, the permissions of the home and of plugins, the free space, the store of each engine with \
      the processes that use it, and the clock. Nothing is changed, and no store is created. A store whose damage ends the \
      process is marked, so that the next command does not open it.

      The exit code is 0 if there is no problem; warnings do not count. Otherwise the first of these decides: 78 for the \
      configuration, 77 for unsafe permissions, 65 for a store that is damaged or of an unknown format, 73 for a home that \
      cannot be created, 74 for too little space, 75 for a store that another process holds, 69 for a server that does not \
      respond.
      """,
    examples: ["cachectl doctor", "cachectl doctor --output json"])

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() async throws {
    CrashNotice.install()
    let (view, worst) = try await Doctor(
      loader: .ofProcess, catalogue: Cachectl.current.catalogue
    ).examine(
      global.configurationFlags)
    if Task.isCancelled { throw CacheError.cancelled }
    try global.show(view)
    if let worst { throw ExitCode(worst) }
  }
}
