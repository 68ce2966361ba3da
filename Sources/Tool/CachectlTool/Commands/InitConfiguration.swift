internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

/// `config init`.
struct InitConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init", abstract: "Write a configuration file that shows every setting with its default",
    discussion: "Without FILE, the user's own file is written (see `cachectl config path`). An existing file is kept.")

  @Argument(help: "The file to write; - for the standard output", completion: .file(extensions: ["json"]))
  var file: String?

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let text = Cachectl.current.configurationExample
    if file == "-" { return try Console.output.write(text) }
    guard let path = file ?? ConfigurationLoader.ofProcess.searchPath(global.configurationFlags).last?.path else {
      return
    }
    if file == nil { try AtomicFile.makeFolders(above: path) }
    try AtomicFile.write(Array(text.utf8), to: path, replacing: false)
    global.remark(StatusLine(["Wrote \(path)"]))
  }
}
