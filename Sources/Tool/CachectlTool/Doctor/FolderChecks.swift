internal import FetchVocabulary

/// Checks who may change the folders and files that the tool trusts.
struct FolderChecks: Sendable {
  let files: any FileInspection

  /// Checks the folder for stores.
  func home(_ path: String) -> [Finding] {
    let name = "home"
    guard let folder = files.file(at: path) else { return [absentHome(path)] + ancestors(of: path, name) }
    guard folder.kind == .folder else {
      return [
        .problem(name, .cannotCreate, "\(path) is no folder", hint: "name another one with --home or CACHECTL_HOME")
      ]
    }
    var findings = unsafe(folder, path, name) + ancestors(of: path, name)
    if folder.isReadableByOthers, !folder.isWritableByOthers {
      findings.append(
        .warning(
          name, "\(path) can be looked into by others (permissions \(folder.modeText))", hint: "chmod 700 \(path)"))
    }
    if !files.mayWrite(path) {
      findings.append(
        .warning(name, "\(path) may only be read: nothing new is stored", hint: "chmod u+w \(path), if you own it"))
    }
    return findings.isEmpty ? [.ok(name, "\(path) is for you alone")] : findings
  }

  /// Checks the folders that are searched for plugins, and their contents: a user who may change them can run code as
  /// this user.
  func plugins(_ paths: [String]) -> [Finding] {
    let name = "plugins"
    let there = paths.filter { files.file(at: $0) != nil }
    let findings = there.flatMap { path -> [Finding] in
      let inside = files.names(in: path).map { "\(path)/\($0)" }
      return ([path] + inside).flatMap { path in
        files.file(at: path).map { unsafe($0, path, name, mayBeOfRoot: true) } ?? []
      } + ancestors(of: path, name, mayBeOfGroup: false)
    }
    if !findings.isEmpty { return findings }
    let text =
      there.isEmpty
      ? "none of the folders is there: \(paths.joined(separator: ", "))"
      : "only you may change \(there.joined(separator: ", "))"
    return [.ok(name, paths.isEmpty ? "no folder is looked into" : text)]
  }

  /// Checks the owner and the permissions of `file` at `path`.
  func unsafe(_ file: InspectedFile, _ path: String, _ name: String, mayBeOfRoot: Bool = false) -> [Finding] {
    var findings: [Finding] = []
    if file.isWritableByOthers {
      findings.append(
        .problem(
          name, .permissionDenied, "\(path) can be changed by others (permissions \(file.modeText))",
          hint: "chmod go-w \(path)"))
    }
    if file.owner != files.user, !(mayBeOfRoot && file.owner == 0) {
      let text = "\(path) belongs to user \(file.owner), and not to you (user \(files.user))"
      findings.append(
        files.user == 0
          ? .warning(name, text, hint: "run cachectl as that user")
          : .problem(name, .permissionDenied, text, hint: "use a folder of your own, or ask its owner"))
    }
    return findings
  }

  /// Checks the folders on the way to `path`: one in which any user may exchange names is as unsafe as the last one.
  /// With `mayBeOfGroup` false, as for code that runs as this user, one that its group may change is unsafe too.
  private func ancestors(of path: String, _ name: String, mayBeOfGroup: Bool = true) -> [Finding] {
    var (findings, folder) = ([Finding](), path)
    while folder != "/" {
      folder = SystemFileInspection.parent(of: folder)
      guard let found = files.file(at: folder), found.isWritableByOthers, !found.isSticky else { continue }
      guard found.isOpenToAll || !mayBeOfGroup else { continue }
      let whom = found.isOpenToAll ? "every user" : "its group"
      findings.append(
        .problem(
          name, .permissionDenied, "\(folder), on the way to \(path), can be changed by \(whom)",
          hint: "chmod go-w \(folder)"))
    }
    return findings
  }

  private func absentHome(_ path: String) -> Finding {
    let nearest = files.nearestFolder(of: path)
    guard files.file(at: nearest)?.kind == .folder, files.mayWrite(nearest) else {
      return .problem(
        "home", .cannotCreate, "\(path) is not there, and cannot be made in \(nearest)",
        hint: "name another one with --home or CACHECTL_HOME")
    }
    return .ok("home", "\(path) is not there yet: the first store makes it")
  }
}
