/// Writes the completion script of fish.
struct FishCompletion {
  /// The model.
  let model: CompletionModel

  /// The script, ending with a line break.
  var script: String {
    let name = model.identifier
    return """
      # Completes the command lines of \(model.program) in fish.

      \(valueFunction(name))

      \(scanner(name))

      \(conditions(name))

      \(question(name))

      \(command) -f
      \((childLines(name) + optionLines(name) + argumentLines(name)).joined(separator: "\n"))

      """
  }

  private var command: String { "complete -c \(model.program.quotedForFish)" }

  /// Whether an option takes a value at a node.
  private func valueFunction(_ name: String) -> String {
    let patterns = OptionValueTable(model).branches.flatMap { branch in
      branch.options.map { "* \($0)".quotedForFish } + branch.places.map(\.quotedForFish)
    }
    return """
      function __\(name)_takes_value
        switch "$argv[1] $argv[2]"
          case \((patterns.isEmpty ? ["''"] : patterns).joined(separator: " "))
            return 0
        end
        return 1
      end
      """
  }

  /// Prints the node for the words before the cursor, and the number of arguments there.
  private func scanner(_ name: String) -> String {
    let nodes = model.nodes.map(\.path.quotedForFish).joined(separator: " ")
    return #"""
      function __\#(name)_scan
        set -l nodes \#(nodes)
        set -l node \#(model.program.quotedForFish)
        set -l position 0
        set -l skip 0
        set -l ended 0
        for word in (commandline -opc)[2..-1]
          if test $skip = 1
            set skip 0
          else if test $ended = 1
            set position (math $position + 1)
          else if test "$word" = --
            set ended 1
          else if string match -q -- '-?*' "$word"
            if __\#(name)_takes_value "$node" "$word"
              set skip 1
            end
          else if contains -- "$node $word" $nodes
            set node "$node $word"
          else
            set position (math $position + 1)
          end
        end
        echo $node
        echo $position
      end
      """#
  }

  /// Whether the cursor is at one of the given nodes, and whether it is at an argument in a range of numbers.
  private func conditions(_ name: String) -> String {
    """
    function __\(name)_at
      set -l place (__\(name)_scan)
      contains -- "$place[1]" $argv
    end

    function __\(name)_argument
      set -l place (__\(name)_scan)
      test "$place[1]" = "$argv[1]"; and test $place[2] -ge $argv[2]; and test $place[2] -le $argv[3]
    end
    """
  }

  /// Prints the program's answer to a question about a topic.
  private func question(_ name: String) -> String {
    #"""
    function __\#(name)_ask
      set -l words (commandline -opc)
      set -l program (string replace -r '^~' "$HOME" -- $words[1])
      set -l current (string replace -r '^--[^=]*=' '' -- (commandline -ct))
      $program \#(CompletionQuery.command) $argv[1] "$current" $words[2..-1] 2>/dev/null </dev/null
    end
    """#
  }

  private func childLines(_ name: String) -> [String] {
    model.nodes.flatMap { node in
      node.children.map { child in
        let condition = "__\(name)_at \(node.path.quotedForFish)".quotedForFish
        return "\(command) -n \(condition) -a \(child.name.quotedForFish) -d \(child.abstract.quotedForFish)"
      }
    }
  }

  /// A line for each option with the same names, value and help; an option that is allowed everywhere needs no
  /// condition.
  private func optionLines(_ name: String) -> [String] {
    let nodes = model.nodesWithOptions
    var order: [String] = []
    var places: [String: [String]] = [:]
    for node in nodes {
      for option in node.options {
        let line = "\(flags(option))\(arguments(option.value)) -d \(option.abstract.quotedForFish)"
        if places[line] == nil { order.append(line) }
        places[line, default: []].append(node.path)
      }
    }
    return order.map { line in
      let paths = places[line] ?? []
      if paths.count == nodes.count { return command + line }
      let condition = "__\(name)_at \(paths.map(\.quotedForFish).joined(separator: " "))"
      return "\(command) -n \(condition.quotedForFish)\(line)"
    }
  }

  private func argumentLines(_ name: String) -> [String] {
    model.nodes.flatMap { node in
      node.arguments.enumerated().filter { $0.element != .anything }.map { index, value in
        let isLast = index == node.arguments.count - 1 && node.isRepeating
        let condition = "__\(name)_argument \(node.path.quotedForFish) \(index) \(isLast ? 9999 : index)"
        return "\(command) -n \(condition.quotedForFish)\(offer(value))"
      }
    }
  }

  private func flags(_ option: CompletionModel.Option) -> String {
    option.names.map { $0.hasPrefix("--") ? " -l \($0.dropFirst(2))" : " -s \($0.dropFirst())" }.joined()
  }

  /// The flags for the value of an option: `-x` excludes files, `-r` does not.
  private func arguments(_ value: CompletionModel.Value?) -> String {
    switch value {
    case nil: ""
    case .file: " -r" + (value.map(offer) ?? "")
    default: " -x" + (value.map(offer) ?? "")
    }
  }

  /// Fish evaluates the list of values as code: hence the quotes within quotes.
  private func offer(_ value: CompletionModel.Value) -> String {
    switch value {
    case .anything: ""
    case .words(let words): " -a " + words.map(\.quotedForFish).joined(separator: " ").quotedForFish
    case .file: " -F"
    case .directory: " -a '(__fish_complete_directories)'"
    case .asked(let topic): " -a '(__\(model.identifier)_ask \(topic))'"
    }
  }
}
