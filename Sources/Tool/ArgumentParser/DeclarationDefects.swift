extension ParsableCommand {
  /// The mistakes in the declarations of this command and of all commands under it, each in one line. A program's tests
  /// check that there are none: looking for them at every start would take time.
  ///
  /// The mistakes are: a stored property without a declaration, a name declared twice in one command, an argument that
  /// can never be reached or left out, and a name that takes a value in one command but not in another, so that it is
  /// ambiguous before the name of the command.
  public static var declarationDefects: [String] {
    var takesValue: [ArgumentName: Bool] = [:]
    var defects: [String] = []
    _ = CommandPath(root: self).visitArguments { set in
      defects += set.defects
      for definition in set.named {
        for name in definition.names {
          let isOption = definition.kind == .option
          if takesValue.updateValue(isOption, forKey: name) == !isOption {
            defects.append("'\(name.text)' takes a value in one command and none in another")
          }
        }
      }
      return false
    }
    return defects
  }
}

extension ArgumentSet {
  /// The mistakes in the declarations of this command alone.
  fileprivate var defects: [String] {
    [defect].compactMap { $0 } + repeatedNames.map { "'\($0.text)' is declared twice" } + misplacedArguments
  }

  private var repeatedNames: [ArgumentName] {
    var seen = Set<ArgumentName>()
    return named.flatMap(\.names).filter { !seen.insert($0).inserted }
  }

  /// Arguments after one that takes all the rest, and required arguments after an optional one.
  private var misplacedArguments: [String] {
    zip(positionals, positionals.dropFirst()).compactMap { previous, next in
      let isReachable = !previous.isRepeating && (previous.isRequired || !next.isRequired)
      return isReachable ? nil : "'\(next.synopsis)' cannot stand after '\(previous.synopsis)'"
    }
  }
}
