import StorageSPI

/// Bugs in how an engine counts its changes, and follows those of others.
enum ChangeCountDefects {
  private static func counting(
    _ name: String, _ caughtBy: [String], _ change: @escaping @Sendable (UInt64, HandleCalls) -> UInt64?
  ) -> Defect {
    Defect(name: name, caughtBy: caughtBy, changeCount: change)
  }

  static let all = [
    counting("counts nothing", ["change-count-advances", "shared-change-count"]) { _, _ in 7 },
    counting("counts every other change", ["change-count-advances", "shared-change-count"]) { count, _ in count / 2 },
    counting("begins again after three changes", ["change-count-advances", "shared-change-count"]) { count, _ in
      count % 3
    },
    counting("can never tell the number of changes", ["change-count-advances", "shared-change-count"]) { _, _ in nil },
    counting("counts the changes of its own handle alone", ["shared-change-count"]) { _, calls in calls.batches },
    counting("counts reads as changes", ["change-count-stays"]) { count, calls in count + calls.reads },
    Defect(
      name: "counts a change before it can be read", caughtBy: ["change-count-late"],
      changeCount: { _, calls in calls.begun }, countsEarly: true),
    Defect(
      name: "counts changes when it is closed", caughtBy: ["change-count-closed"], countsWhenClosed: true),
    Defect(
      name: "misses what others change", caughtBy: ["shared-change-mark"],
      mark: { ChangeMark(number: 7, age: $0.age) }),
    Defect(
      name: "marks nothing twice alike", caughtBy: ["change-mark-stays"],
      mark: { ChangeMark(number: .random(in: 0 ... .max), age: $0.age) }),
  ]
}
