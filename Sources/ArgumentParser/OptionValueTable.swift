/// Which option takes which value at which place, as the branches of a shell's `case` over "place option".
///
/// An option that takes the same value wherever it stands needs one pattern, whatever the place.
struct OptionValueTable {
  /// A value, with everything that leads to it.
  struct Branch {
    /// The value.
    let value: CompletionModel.Value
    /// The options that take it anywhere.
    var options: [String] = []
    /// The places, each with an option that takes it only there.
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
