/// What a program's configuration is called: its files, folders and variables, and what messages about it may mention.
package struct ConfigurationNames: Sendable {
  /// The program's name, which is in the names of its files and folders.
  package let program: String
  /// What the names of its environment variables begin with, such as "WEATHER_".
  package let prefix: String
  /// What users of the program call its arguments, by which they override everything else.
  package let arguments: Arguments
  /// What else a user of the program can do.
  package let advice: Advice

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

  /// Hints that depend on the program, each in one line.
  package struct Advice: Sendable {
    let missingFile: String
    let untrustedFile: (@Sendable (_ path: String) -> String)?

    /// The hints after a named file that does not exist, and after a file found in the working folder that sets more
    /// than it may; `nil` for a program that reads no file there.
    package init(missingFile: String, untrustedFile: (@Sendable (_ path: String) -> String)?) {
      (self.missingFile, self.untrustedFile) = (missingFile, untrustedFile)
    }
  }

  /// The names of `program`.
  ///
  /// - Parameter prefix: what the names of its variables begin with, in upper case, with an underscore at its end.
  package init(_ program: String, prefix: String, arguments: Arguments, advice: Advice) {
    (self.program, self.prefix, self.arguments, self.advice) = (program, prefix, arguments, advice)
  }

  /// The variable that names the file.
  var fileVariable: String { prefix + "CONFIG" }
  /// The variable that names the folder for stores.
  var homeVariable: String { prefix + "HOME" }
}
