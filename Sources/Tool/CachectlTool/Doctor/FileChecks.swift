internal import CacheBase
internal import CachePresentation

/// Checks files and folders: who can change the files that the tool trusts, the free space, stores that were moved
/// aside, and which processes use a store.
struct FileChecks: Sendable {
  /// Below this nothing works for long: engines write a batch next to the data it replaces.
  static let leastSpace = 64 << 20

  let files: any FileInspection

  /// Checks the folder for stores.
  func home(_ path: String) -> [Finding] {
    let name = "home"
    guard let folder = files.file(at: path) else { return [absentHome(path)] + ancestors(of: path, name) }
    guard folder.kind == .folder else {
      return [
        .problem(
          name, .cannotCreate, "\(path) is not a directory", hint: "name another one with --home or CACHECTL_HOME")
      ]
    }
    var findings = unsafe(folder, path, name) + ancestors(of: path, name)
    if folder.isReadableByOthers, !folder.isWritableByOthers {
      findings.append(
        .warning(
          name, "\(path) can be looked into by others (permissions \(folder.modeText))",
          hint: "chmod 700 \(path.shellWord)"))
    }
    findings += readOnly(path, name)
    return findings.isEmpty ? [.ok(name, "\(path) is for you alone")] : findings
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

  /// Checks the folders that are searched for plugins, and their contents: a user who can change them can run code as
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
    return [.ok(name, there.isEmpty ? "there are none" : "only you may change \(there.joined(separator: ", "))")]
  }

  func store(_ paths: [String], _ name: String) -> [Finding] {
    var findings: [Finding] = []
    for path in paths {
      guard let file = files.file(at: path) else { continue }
      findings += unsafe(file, path, name)
      guard file.kind == .file else { continue }
      if file.isReadableByOthers, !file.isWritableByOthers {
        findings.append(
          .warning(
            name, "\(path) can be read by others (permissions \(file.modeText))", hint: "chmod 600 \(path.shellWord)"))
      }
      findings += readOnly(path, name)
    }
    let users = users(of: paths)
    if !users.isEmpty { findings.append(.ok(name, "in use by \(users.joined(separator: ", "))")) }
    return findings
  }

  /// Checks the owner and the permissions of `file` at `path`.
  private func unsafe(_ file: InspectedFile, _ path: String, _ name: String, mayBeOfRoot: Bool = false) -> [Finding] {
    var findings = writable(file, path, name)
    if file.owner != files.user, !(mayBeOfRoot && file.owner == 0) {
      let text = "\(path) belongs to user \(file.owner), and not to you (user \(files.user))"
      findings.append(
        files.user == 0
          ? .warning(name, text, hint: "run cachectl as that user")
          : .problem(name, .permissionDenied, text, hint: "use a folder of your own, or ask its owner"))
    }
    return findings
  }

  /// Checks that no other user can change `file` at `path`.
  func writable(_ file: InspectedFile, _ path: String, _ name: String) -> [Finding] {
    guard file.isWritableByOthers else { return [] }
    return [
      .problem(
        name, .permissionDenied, "\(path) can be changed by others (permissions \(file.modeText))",
        hint: "chmod go-w \(path.shellWord)")
    ]
  }

  /// Checks that this process has the right to write the file or folder at `path`.
  private func readOnly(_ path: String, _ name: String) -> [Finding] {
    if files.mayWrite(path) { return [] }
    return [
      .warning(
        name, "\(path) may only be read: nothing new is stored", hint: "chmod u+w \(path.shellWord), if you own it")
    ]
  }

  /// Checks the folders on the way to `path`: one in which any user can exchange names is as unsafe as the last one.
  /// With `mayBeOfGroup` false, as for code that runs as this user, one that its group can change is unsafe too.
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
          hint: "chmod go-w \(folder.shellWord)"))
    }
    return findings
  }

  /// The processes that have one of the files at `paths` open, by number, through the descriptors in /proc/PID/fd
  /// (proc(5)). Processes of other users do not show.
  private func users(of paths: [String]) -> [String] {
    let paths = Set(paths.compactMap { files.realPath(of: $0) })
    guard !paths.isEmpty else { return [] }
    let processes = files.names(in: "/proc").compactMap { Int($0) }.filter { process in
      let folder = "/proc/\(process)/fd"
      return files.names(in: folder).contains { files.target(of: "\(folder)/\($0)").map(paths.contains) ?? false }
    }
    return processes.sorted().map { process in
      let command = files.text(of: "/proc/\(process)/comm").map { String($0.prefix { $0 != "\n" }) } ?? ""
      return "\(command.isEmpty ? "unknown" : command) (process \(process))"
    }
  }

  /// Checks the file system of the home at `path`, which might have to hold `maximumBytes` of payload, `usedBytes` of
  /// them stored already.
  func space(home path: String, maximumBytes: Int, usedBytes: Int) -> Finding {
    let name = "space"
    guard let space = files.space(at: files.nearestFolder(of: path)) else {
      return .warning(name, "the free space for \(path) cannot be told", hint: "look at it with: df \(path.shellWord)")
    }
    let free = "\(ByteCountText.text(space.free)) are free for \(path)"
    if space.isReadOnly {
      return .warning(name, "the file system of \(path) may only be read", hint: "nothing new is stored there")
    }
    if space.free < Self.leastSpace {
      return .problem(
        name, .noSpace, "only \(free)", hint: "make room with: cachectl compact; or move the home")
    }
    if space.free < maximumBytes - usedBytes {
      return .warning(
        name, "\(free), less than cache.maxBytes (\(ByteCountText.text(maximumBytes))) allows",
        hint: "lower cache.maxBytes, or move the home")
    }
    return .ok(name, free)
  }

  /// Names the stores that were moved aside next to `stores`, their size, and the commands that save them.
  func setAside(_ stores: [(engine: EngineDeclaration, path: String)]) -> [Finding] {
    stores.sorted { $0.path < $1.path }.compactMap { store -> Finding? in
      let paths = setAside(next: store.path)
      guard let first = paths.first else { return nil }
      let bytes = paths.reduce(0) { $0 + size($1) }
      let more = paths.count > 1 ? "\(paths.count - 1) more, " : ""
      return .warning(
        "set aside", "\(first) was moved aside as damaged (\(more)\(ByteCountText.text(bytes)))",
        hint: "save what can be read of it with: \(store.engine.commandsToSave(storeAt: first)); or delete it")
    }
  }

  /// The stores that were moved aside next to the one at `path`. An engine moves a store aside next to the target of a link,
  /// and not next to the link.
  func setAside(next path: String) -> [String] {
    let path = files.target(of: path) == nil ? path : files.realPath(of: path) ?? path
    let folder = SystemFileInspection.parent(of: path)
    let start = path.dropFirst(folder == "/" ? 1 : folder.utf8.count + 1) + ".damaged-"
    let others = ["-wal", "-shm", ".uses"]
    let names = files.names(in: folder).filter { name in
      name.hasPrefix(start) && !others.contains(where: name.hasSuffix)
    }
    return names.sorted().map { "\(folder == "/" ? "" : folder)/\($0)" }
  }

  /// The size of the file at `path`, or of the files in that folder.
  private func size(_ path: String) -> Int {
    let inside = files.names(in: path).map { "\(path)/\($0)" }
    return (inside.isEmpty ? [path] : inside).reduce(0) { $0 + (files.file(at: $1)?.size ?? 0) }
  }
}
