/// A shell for which there is a completion script.
public enum CompletionShell: String, Sendable, CaseIterable, ExpressibleByArgument {
  /// Bash, from version 3.2.
  case bash
  /// The Z shell, with its completion system.
  case zsh
  /// Fish, from version 3.0.
  case fish
}

extension ParsableCommand {
  /// The completion script of `shell` for command lines with this command as the root, ending with a line break. It knows
  /// no command: it asks the program at each completion, see `CompletionRequest`.
  public static func completionScript(for shell: CompletionShell) -> String {
    let program = commandName
    // The name in a form for shell functions.
    let name = String(program.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    return switch shell {
    case .bash: bashScript(program, name)
    case .zsh: zshScript(program, name)
    case .fish: fishScript(program, name)
    }
  }

  private static func bashScript(_ program: String, _ name: String) -> String {
    #"""
    # Completes the command lines of \#(program) in bash.
    _\#(name)() {
      local kind='' line word="${COMP_WORDS[COMP_CWORD]}"
      COMPREPLY=()
      while IFS= read -r line; do
        if [[ -z $kind ]]; then kind=$line; else COMPREPLY+=("$line"); fi
      done < <("${COMP_WORDS[0]/#\~/$HOME}" \#(CompletionRequest.command) bash "${COMP_WORDS[@]:1:COMP_CWORD}" \
        2>/dev/null </dev/null)
      if [[ $kind != files* && $kind != folders ]]; then return; fi
      compopt -o filenames 2>/dev/null
      if [[ $word == '=' ]]; then word=''; fi
      while IFS= read -r line; do
        if [[ $kind == files || -d ${line/#\~/$HOME} || " ${kind#files} " == *" ${line##*.} "* ]]; then
          COMPREPLY+=("$line")
        fi
      done < <(compgen -f -- "$word")
    }
    complete -F _\#(name) \#(program)

    """#
  }

  private static func zshScript(_ program: String, _ name: String) -> String {
    #"""
    #compdef \#(program)
    # Completes the command lines of \#(program) in zsh.
    _\#(name)() {
      local program=${(Q)words[1]} kind
      local -a answer
      answer=(${(f)"$(
        ${program/#\~/$HOME} \#(CompletionRequest.command) zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null
      )"})
      kind=$answer[1]
      answer=($answer[2,-1])
      if [[ $PREFIX == --*=* ]]; then compset -P 1 '*='; fi
      case $kind in
        words) _describe word answer ;;
        files) _files ;;
        # Without "(-.)" zsh reads one extension in parentheses as qualifiers.
        files*) _files -g "*.(${${kind#files }// /|})(-.)" ;;
        folders) _files -/ ;;
      esac
    }
    if [[ $funcstack[1] == _\#(name) ]]; then _\#(name) "$@"; else compdef _\#(name) \#(program); fi

    """#
  }

  private static func fishScript(_ program: String, _ name: String) -> String {
    #"""
    # Completes the command lines of \#(program) in fish.
    function __\#(name)_complete
      set -l words (commandline -opc)
      set -l current (commandline -ct)
      set -l program (string replace -r '^~' "$HOME" -- $words[1])
      set -l answer ($program \#(CompletionRequest.command) fish $words[2..-1] "$current" 2>/dev/null </dev/null)
      set -l option (string match -r '^--[^=]*=' -- "$current")
      set -l paths "'' "(string replace -r '^--[^=]*=' '' -- "$current")
      switch "$answer[1]"
        case words
          string join -- \n "$option"$answer[2..-1]
        case 'files*'
          string join -- \n "$option"(complete -C $paths)
        case folders
          string join -- \n "$option"(complete -C $paths | string match -r '.*/$')
      end
    end
    complete -c \#(program) -f -a '(__\#(name)_complete)'

    """#
  }
}
