public import StorageSPI

extension RepairPlan {
  /// A plan that keeps the entries whose checksums match. Damaged files are renamed: `suffix` is appended to their
  /// names.
  public static func byChecksum(suffix: String) -> RepairPlan {
    RepairPlan(suffix: suffix) { key, payload, metadata in metadata.isSound(key: key, payload: payload) }
  }
}
