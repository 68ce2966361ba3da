internal import ArgumentParser
internal import CacheComposition
internal import CacheDomain
internal import CachePresentation
internal import Glibc

/// `config path`.
struct PathOfConfiguration: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "Show where the configuration is looked for, and which file is used")

  @OptionGroup(title: "Global options")
  var global: GlobalOptions

  func run() throws {
    let loader = ConfigurationLoader.ofProcess
    let files = loader.searchPath(global.configurationFlags)
    let used = files.firstIndex { access($0.path, F_OK) == 0 }
    // A file that cannot be read is listed too; `config validate` says what is wrong with it.
    let trust = (try? loader.trust(global.configurationFlags)) ?? nil
    let rows = files.enumerated().map { index, file in
      PathsView.PathRow(
        path: file.path, exists: access(file.path, F_OK) == 0, isUsed: index == used && trust?.permits != false,
        source: file.source.description, trust: index == used ? trust?.text : nil)
    }
    try global.show(PathsView(rows))
  }
}
