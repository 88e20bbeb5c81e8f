/// The completions of bash, zsh and fish: each hands its words to `shmctl complete`, and quotes what comes back as it does.
enum CompletionScript: String, CaseIterable {
  case bash, zsh, fish

  var text: String {
    switch self {
    case .bash: Self.bashText
    case .zsh: Self.zshText
    case .fish: Self.fishText
    }
  }

  /// Bash breaks words at `:` and `=`, which keys have often: what stands without a space between belongs together, and of an
  /// answer bash wants what is behind the last break.
  private static let bashText = #"""
    # bash completion for shmctl
    _shmctl() {
      local line=${COMP_LINE:0:COMP_POINT} word index answer current break
      local -a words=()
      for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if ((index == 0)) || [[ $line == [[:blank:]]* || -z $line ]]; then
          line=${line#"${line%%[![:blank:]]*}"}
          words+=("${word:0:${#line}}")
        else
          words[-1]+=${word:0:${#line}}
        fi
        line=${line#"$word"}
      done
      # Quotes and backslashes are the shell's.
      for index in "${!words[@]}"; do words[index]=${words[index]//[\"\'\\]/}; done
      current=${words[-1]}
      break=${current%"${current##*[:=]}"}
      [[ $COMP_WORDBREAKS == *:* && $COMP_WORDBREAKS == *=* ]] || break=
      COMPREPLY=()
      while IFS= read -r answer; do
        if [[ $answer == :files ]]; then
          compopt -o filenames
          while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "$current")
          return
        fi
        printf -v answer %q "${answer#"$break"}"
        COMPREPLY+=("$answer")
      done < <("${words[0]}" complete -- "${words[@]:1}" 2>/dev/null)
    }
    complete -F _shmctl shmctl

    """#

  private static let zshText = #"""
    #compdef shmctl
    # zsh completion for shmctl
    _shmctl() {
      local -a answers
      answers=("${(@f)$(${(Q)words[1]} complete -- "${(Q@)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
      if [[ $answers[1] == :files ]]; then
        _files
      elif [[ -n $answers[1] ]]; then
        compadd -- "${answers[@]}"
      fi
    }
    if [[ $funcstack[1] == _shmctl ]]; then _shmctl "$@"; else compdef _shmctl shmctl; fi

    """#

  private static let fishText = #"""
    # fish completion for shmctl
    function __shmctl_complete
        set -l words (commandline -opc)
        set -l answers ($words[1] complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
        if test "$answers[1]" = ":files"
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $answers
        end
    end
    complete -c shmctl -f -a '(__shmctl_complete)'

    """#
}
