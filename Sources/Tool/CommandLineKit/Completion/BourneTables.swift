/// The functions that contain the model, in the common language of bash and zsh.
///
/// Each sets variables of its caller: `kind` to words, file, directory, asked or anything; `choices` to the words, the
/// file extensions or the topic to ask the program for; `children` and `switches` to the names of subcommands and
/// options.
struct BourneTables {
  /// The model.
  let model: CompletionModel
  /// Whether names carry a description after a colon.
  let areDescribed: Bool

  private var name: String { model.identifier }

  /// All functions.
  var functions: String { [nodeFunction, valueFunction, argumentFunction].joined(separator: "\n\n") }

  /// What may come at a node.
  private var nodeFunction: String {
    let branches = model.nodes.map { node in
      let children = node.children.map { described($0.name, $0.abstract) }
      let switches = node.options.flatMap { option in option.names.map { described($0, option.abstract) } }
      return """
            \(node.path.quotedForShell))
              children=(\(children.joined(separator: " ")))
              switches=(\(switches.joined(separator: " ")))
              ;;
        """
    }
    return """
      _\(name)_node() {
        children=()
        switches=()
        case "$1" in
      \(branches.joined(separator: "\n"))
        esac
      }
      """
  }

  /// The value that follows an option at a node; fails if there is none.
  private var valueFunction: String {
    let branches = OptionValueTable(model).branches.map { branch in
      let patterns = branch.options.map { "*" + " \($0)".quotedForShell } + branch.places.map(\.quotedForShell)
      return "    \(patterns.joined(separator: " | "))) \(assignment(branch.value)) ;;\n"
    }
    return """
      _\(name)_value() {
        kind=''
        choices=()
        case "$1 $2" in
      \(branches.joined())    *) return 1 ;;
        esac
      }
      """
  }

  /// The kind of the argument with a number, from 0, at a node.
  private var argumentFunction: String {
    let branches = model.nodes.flatMap { node in
      node.arguments.enumerated().map { index, value in
        let isLast = index == node.arguments.count - 1 && node.isRepeating
        let pattern = "\(node.path) ".quotedForShell + (isLast ? "*" : "\(index)")
        return "    \(pattern)) \(assignment(value)) ;;\n"
      }
    }
    return """
      _\(name)_argument() {
        kind=''
        choices=()
        case "$1 $2" in
      \(branches.joined())    *) ;;
        esac
      }
      """
  }

  private func assignment(_ value: CompletionModel.Value) -> String {
    switch value {
    case .anything: "kind=anything"
    case .words(let words): "kind=words choices=(\(words.map(\.quotedForShell).joined(separator: " ")))"
    case .file(let endings): "kind=file choices=(\(endings.map(\.quotedForShell).joined(separator: " ")))"
    case .directory: "kind=directory"
    case .asked(let topic): "kind=asked choices=(\(topic.quotedForShell))"
    }
  }

  private func described(_ name: String, _ abstract: String) -> String {
    areDescribed && !abstract.isEmpty ? "\(name):\(abstract)".quotedForShell : name.quotedForShell
  }
}
