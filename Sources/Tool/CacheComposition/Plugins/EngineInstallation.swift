/// Where the libraries lie that were installed together with the program, and the command that installs more of them.
///
/// A program in PREFIX/bin has them in PREFIX/lib/cachectl. A program elsewhere, such as one in the folder it was built
/// in, uses those below `~/.local`, the default prefix of an installation.
public struct EngineInstallation: Sendable {
  /// The absolute path of the folder with the libraries, which need not exist.
  public let folder: String
  private let prefix: String
  private let isDefault: Bool

  /// The installation that the program at the absolute path `program` belongs to, for a user whose home folder is
  /// `userHome`. With `nil`, because the path is unknown, it is the default one.
  public init(program: String?, userHome: String) {
    let home = PathResolver(base: "/", userHome: userHome).absolute("~/.local")
    let names = program?.split(separator: "/") ?? []
    let isInstalled = names.count > 1 && names[names.count - 2] == "bin"
    prefix = isInstalled ? names.dropLast(2).map { "/" + $0 }.joined() : home
    isDefault = prefix == home
    folder = prefix + "/lib/cachectl"
  }

  /// The installation of this process's program.
  public static func ofProcess(userHome: String) -> EngineInstallation {
    EngineInstallation(program: SystemFileInspection().target(of: "/proc/self/exe"), userHome: userHome)
  }

  /// The command that installs the library of the engine called `name`; `nil` if this project has no such library. What
  /// is below /usr belongs to the system's packages.
  func command(for name: String) -> String? {
    guard let package = PluginCatalogue.package(of: name) else { return nil }
    if prefix == "/usr" { return "apt install cachectl-\(package)" }
    return "./install \(isDefault ? "" : "--prefix \(prefix) ")--with \(package)"
  }
}
