internal import CommandLineKit

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
    // Comparing all pairs costs less at each start than making the type of a dictionary.
    for (index, declaration) in declarations.enumerated() {
      if !declaration.isKebabCase {
        return DeclarationDefect(
          message: "the \(noun) of \(declaration.type) cannot be called \"\(declaration.name)\"",
          hint: "call it by words in lower case with hyphens between them, such as my-\(noun), in the program")
      }
      if let other = declarations[..<index].first(where: { $0.name == declaration.name }) {
        return DeclarationDefect(
          message: "two \(noun)s are called '\(declaration.name)': those of \(other.type) and \(declaration.type)",
          hint: "rename one of the two in the program")
      }
    }
    return nil
  }

  private var isKebabCase: Bool {
    // Whether the byte before belongs to a word.
    var isInWord = false
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): isInWord = true
      case UInt8(ascii: "-") where isInWord: isInWord = false
      default: return false
      }
    }
    return isInWord
  }
}
