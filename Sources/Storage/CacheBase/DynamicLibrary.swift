/// A C library that is loaded when it is first used, so that neither a build nor the start of the program needs it.
///
/// It is never unloaded: its functions can be called for as long as the process lives.
///
/// `@unchecked Sendable`: the handle is set once, and any thread can look for functions.
package struct DynamicLibrary: @unchecked Sendable {
  /// The reason why a library cannot be used.
  package struct Failure: Error, CustomStringConvertible {
    package let library: String
    /// The problem, as the rest of a sentence that starts with the library's name.
    package let problem: String
    /// The command that installs it, in one line; empty if there is none.
    package let hint: String

    package init(_ library: String, _ problem: String, hint: String = "") {
      self.library = library
      self.problem = problem
      self.hint = hint
    }

    /// The problem in one line without a final full stop.
    package var description: String { "\(library) \(problem)" }
  }

  /// As dlopen(3) returns it.
  package let handle: UnsafeMutableRawPointer
  private let name: String
  private let hint: String

  /// Loads a library of the system, with its functions resolved when they are first called.
  ///
  /// - Parameters:
  ///   - name: the name of the library, such as "libidn2".
  ///   - versions: the versions of its interface that can be used, the best one first.
  ///   - package: the package of Debian and Ubuntu that contains it.
  ///   - acceptsOthers: whether a file without a version will do, too. It will not if types in memory differ between
  ///     versions, so that only the version of the headers can be used.
  package init(
    _ name: String, versions: [String], package: String, acceptsOthers: Bool = true
  ) throws(Failure) {
    #if canImport(Darwin)
      // Whole paths, because a mere name is also looked for in the working directory.
      let folders = acceptsOthers ? ["/usr/lib"] : ["/usr/lib", "/opt/homebrew/lib", "/usr/local/lib"]
      let exact = folders.flatMap { folder in versions.map { "\(folder)/\(name).\($0).dylib" } }
      let others = ["/opt/homebrew/lib/\(name).dylib", "/usr/local/lib/\(name).dylib"]
      let hint = "install it with: brew install \(name)"
    #else
      let exact = versions.map { "\(name).so.\($0)" }
      let others = ["\(name).so"]
      let hint = "install it, on Debian and Ubuntu with: sudo apt-get install \(package)"
    #endif
    try self.init(name, acceptsOthers ? exact + others : exact, RTLD_LAZY | RTLD_LOCAL, hint: hint)
  }

  /// Loads the library in the file `path`. An undefined symbol fails now and not during a call, and no symbol of the library
  /// replaces one of another library.
  package init(path: String) throws(Failure) {
    try self.init("library \(path)", [path], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)
  }

  private init(_ name: String, _ files: [String], _ mode: Int32, hint: String = "") throws(Failure) {
    self.name = name
    self.hint = hint
    var problem: String?
    for file in files {
      if let handle = dlopen(file, mode) {
        self.handle = handle
        return
      }
      let reason = dlerror().map { String(cString: $0) } ?? "for an unknown reason"
      // The system's message begins with the file. The message about the first file says the most.
      problem = problem ?? (reason.hasPrefix("\(file): ") ? String(reason.dropFirst(file.count + 2)) : reason)
    }
    throw Failure(name, "cannot be loaded: \(problem ?? "it has no file")", hint: hint)
  }

  /// The function called `symbol`, whose type in C must be `Function`.
  package func function<Function>(_ symbol: String) throws(Failure) -> Function {
    guard let address = dlsym(handle, symbol) else { throw Failure(name, "has no function \(symbol)", hint: hint) }
    return unsafeBitCast(address, to: Function.self)
  }
}
