internal import CachectlArguments
internal import CacheComposition

/// A mistake in the lists of a program: a defect for its author to correct.
struct DeclarationDefect: Error, Hashable {
  let message: String
  let hint: String
}

extension Cachectl {
  /// The first mistake in the names of the resources and commands; `nil` if there is none.
  ///
  /// It costs some microseconds. The options of a command are checked when it is used, and the keys of the configuration
  /// when it is loaded.
  var declarationDefect: DeclarationDefect? {
    let resources = resources.map { Declaration(name: $0.options.resourceName, type: $0.options) }
    let own = [Declaration(name: "fetch", type: FetchCommand.self), .init(name: "explain", type: ExplainCommand.self)]
    let commands = own + commands.map { Declaration(name: $0.commandName, type: $0) }
    return Declaration.defect(in: resources, noun: "resource") ?? Declaration.defect(in: commands, noun: "command")
  }
}

/// A name on the command line, and the type that declares it.
private struct Declaration {
  let name: String
  let type: any ParsableArguments.Type

  static func defect(in declarations: [Declaration], noun: String) -> DeclarationDefect? {
    var types: [String: any ParsableArguments.Type] = [:]
    for declaration in declarations {
      if !declaration.isKebabCase {
        return DeclarationDefect(
          message: "the \(noun) of \(declaration.type) cannot be called \"\(declaration.name)\"",
          hint: "call it by words in lower case with hyphens between them, such as my-\(noun), in the program")
      }
      if let other = types.updateValue(declaration.type, forKey: declaration.name) {
        return DeclarationDefect(
          message: "two \(noun)s are called '\(declaration.name)': those of \(other) and \(declaration.type)",
          hint: "rename one of the two in the program")
      }
    }
    return nil
  }

  private var isKebabCase: Bool {
    name.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false).allSatisfy { word in
      !word.isEmpty
        && word.allSatisfy {
          (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
    }
  }
}
