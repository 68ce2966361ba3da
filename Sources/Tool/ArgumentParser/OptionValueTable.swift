/// The values of options by node, as the branches of a shell's `case` over "node option".
///
/// An option with the same value at every node needs one pattern.
struct OptionValueTable {
  /// A value with the options that take it.
  struct Branch {
    /// The value.
    let value: CompletionModel.Value
    /// The options that take it at every node.
    var options: [String] = []
    /// The nodes, each with an option that takes it only there.
    var places: [String] = []
  }

  /// The branches, in the order of declaration.
  private(set) var branches: [Branch] = []

  /// The table of `model`.
  init(_ model: CompletionModel) {
    var values: [String: Set<CompletionModel.Value?>] = [:]
    let entries = model.nodes.flatMap { node in
      node.options.flatMap { option in option.names.map { (place: node.path, name: $0, value: option.value) } }
    }
    for entry in entries { values[entry.name, default: []].insert(entry.value) }
    for entry in entries {
      guard let value = entry.value else { continue }
      add(entry.name, at: values[entry.name]?.count == 1 ? nil : entry.place, value)
    }
  }

  private mutating func add(_ name: String, at place: String?, _ value: CompletionModel.Value) {
    let index = branches.firstIndex { $0.value == value } ?? branches.endIndex
    if index == branches.endIndex { branches.append(Branch(value: value)) }
    if let place {
      branches[index].places.append("\(place) \(name)")
    } else if !branches[index].options.contains(name) {
      branches[index].options.append(name)
    }
  }
}
