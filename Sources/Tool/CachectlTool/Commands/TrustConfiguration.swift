internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import Glibc

/// `config trust`.
struct TrustConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "trust", abstract: "Trust a configuration file that lies in a working folder",
    discussion: """
      A cachectl.json in the working folder may come from another person. Where it names a library, a server, a header, \
      a secret, a place outside the home, or a limit of the store, nothing of it is used (status 78) until you have \
      read it and trust it. Trust holds for the file's path and content: a changed file has to be trusted again.

      Without FILE, cachectl.json in the working folder is meant. What it sets that asks for trust is printed.
      """)

  @Argument(help: "The file to trust", completion: .file(extensions: ["json"]))
  var file: String?

  @Flag(help: "Stop trusting the file")
  var revoke = false

  @Flag(help: "Show which files are trusted")
  var list = false

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func validate() throws(ValidationError) {
    if list, revoke || file != nil { throw ValidationError("--list takes nothing else") }
  }

  func run() throws {
    let loader = ConfigurationLoader.ofProcess
    if list {
      try global.show(TrustedFilesView(loader.trustedFiles))
    } else if revoke {
      try end(loader)
    } else {
      try begin(loader)
    }
  }

  private func begin(_ loader: ConfigurationLoader) throws {
    let candidate = try loader.candidate(at: file, global.configurationFlags)
    try AtomicFile.makeFolders(above: candidate.recordPath)
    let record = try AtomicFile(candidate.recordPath, isPrivate: true)
    try record.write(Array(candidate.record.utf8))
    try record.commit()
    guard loader.record(ofFileAt: file) != nil else {
      throw CacheError(
        .permissionDenied,
        "\(candidate.recordPath) does not count: it, or its folder, is not yours alone to change",
        hint: "make both yours, and take the permission to write from others")
    }
    try global.show(TrustView(path: candidate.path, settings: candidate.settings))
  }

  private func end(_ loader: ConfigurationLoader) throws {
    guard let record = loader.record(ofFileAt: file) else {
      throw CacheError(
        .notFound, "\(file ?? "cachectl.json") is not trusted",
        hint: "see which files are with: cachectl config trust --list")
    }
    guard unlink(record) == 0 else {
      throw CacheError(
        .ioFailed, "\(record) cannot be removed: \(String(cString: strerror(errno)))",
        hint: "remove it yourself")
    }
    global.remark(StatusLine(["\(file ?? "cachectl.json") is trusted no longer"]))
  }
}
