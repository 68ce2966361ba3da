/// What a program's configuration is called: its files, folders and variables, and what messages about it may mention.
package struct ConfigurationNames: Sendable {
  /// The program's name, which is in the names of its files and folders.
  package let program: String
  /// What the names of its environment variables begin with, such as "WEATHER_".
  package let prefix: String
  /// What users of the program call its arguments, by which they override everything else.
  package let arguments: Arguments
  /// The hint after a named file that does not exist, in one line.
  let missingFileHint: String

  /// The names of the arguments.
  package struct Arguments: Sendable {
    let file: String
    let home: String
    let engine: String
    let setting: String

    /// The names of the arguments for the file, the folder for stores, the engine, and a setting.
    package init(file: String, home: String, engine: String, setting: String) {
      (self.file, self.home, self.engine, self.setting) = (file, home, engine, setting)
    }
  }

  /// The names of `program`.
  ///
  /// - Parameters:
  ///   - prefix: what the names of its variables begin with, in upper case, with an underscore at its end.
  ///   - missingFileHint: the hint after a named file that does not exist.
  package init(_ program: String, prefix: String, arguments: Arguments, missingFileHint: String) {
    self.program = program
    self.prefix = prefix
    self.arguments = arguments
    self.missingFileHint = missingFileHint
  }

  /// The variable that names the file.
  var fileVariable: String { prefix + "CONFIG" }
  /// The variable that names the folder for stores.
  var homeVariable: String { prefix + "HOME" }
}
