"""The threat rules, as data: what a text must say to be kept out of the prompt, or to be marked.

The ids are the article's (section 3.3) and those of later systems of its kind.  A rule asks for a deed, not for a
noun: a note that mentions `~/.ssh`, `.env` or a token is no threat, a command that sends them away is.  Patterns run on
the matching view (`scan.py`): folded case, plain letters, single blanks, simplified Chinese.  Every repetition is
bounded, so the time grows with the text and not faster.
"""

from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """A threat: `pattern` is only tried on texts that hold one of the `needles`."""

    id: str
    action: Literal["mark", "quarantine"]
    needles: tuple[str, ...]
    pattern: str


# Up to so many words in between, within one sentence; the last blank belongs to it.
_BETWEEN = r"[^\w.!?;\n]{1,4}+|\n"
_GAP = rf"(?:(?:{_BETWEEN})[\w'-]{{1,30}}+){{0,4}}?(?:{_BETWEEN})"
_NOT = r"(?:\bnot|n't|\bnever)"
_NOT_NEGATED = r"(?<!not )(?<!n't )(?<!never )"
_EARLIER = "previous|prior|above|earlier|preceding|foregoing|former|past|your|system|initial|original|existing"

_SECRET_NAME = r"\{?\w{0,40}(?:key|token|secret|password|passwd|credential|api)"
_SECRET_FILE = (
    r"(?:\.env\b(?!\.(?:example|sample|template))"
    r"|credentials?\b|\.netrc|\.pgpass|\.npmrc|\.pypirc|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\.ssh/|\.aws/|\.gnupg"
    r"|/etc/shadow|\.kube/config|\bsecrets?\.(?:ya?ml|json|toml)|memory\.md|user\.md)(?!\S{0,20}\.pub)"
)
_SECRET_FILE_NEEDLES = (
    *(".env", "credential", ".netrc", ".pgpass", ".npmrc", ".pypirc", "id_rsa", "id_e", "id_dsa", ".ssh", ".aws"),
    *(".gnupg", "shadow", ".kube", "secret", "memory.md", "user.md"),
)
# A key in the header made for it goes to its own service.
_AUTH_HEADER = (
    r"""(?:-h|--header) ?=?["']?[\w-]{0,30}(?:auth|key|token|secret)[\w-]{0,30} ?:[^"'\n]{0,80}"""
    r"""|(?:-u|--user) ?=?["']?[^\s"']{0,80}"""
)
_SENDER = r"\b(?:curl|wget|nc|ncat|netcat|socat|telnet|sendmail|mail|ftp|ssh)\b"


def _exfiltration(command: str) -> str:
    """The command with a secret variable anywhere but in its own header, up to the end of the line."""
    passed = rf"(?:{_AUTH_HEADER}|\\\n|\$(?!{_SECRET_NAME})|(?!\b{command}\b)[^\n$])"
    return rf"\b{command}\b{passed}{{0,400}}+\${_SECRET_NAME}"


_ENGLISH = (
    Rule(
        "prompt_injection",
        "quarantine",
        ("instruction", "directive", "guideline", "orders"),
        rf"{_NOT_NEGATED}\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|discard|dismiss|abandon"
        rf"|(?:not|n't|stop) (?:follow|obey)(?:ing)?){_GAP}(?:{_EARLIER}|all|any|every|other){_GAP}"
        r"(?:(?!instructions? set)instructions?|directives?|guidelines?|orders)\b",
    ),
    Rule(
        "prompt_injection",
        "quarantine",
        ("prompt", "context", "conversation", "told", "messages"),
        rf"{_NOT_NEGATED}\b(?:ignore|disregard|forget|discard){_GAP}(?:(?:{_EARLIER}){_GAP}(?:prompts?|context|messages?"
        r"|conversation)\b|everything (?:above|before|(?:you|i) (?:were|was|have been|told)))",
    ),
    Rule(
        "disregard_rules",
        "quarantine",
        ("rule", "guideline", "polic", "constraint", "restriction"),
        rf"{_NOT_NEGATED}\b(?:(?:disregard|forget){_GAP}(?:{_EARLIER}|safety|all|any)"
        rf"|(?:ignore|override|violate|break){_GAP}(?:previous|prior|above|earlier|preceding|your|safety)){_GAP}"
        r"(?:rules?|guidelines?|polic(?:y|ies)|constraints?|restrictions?)\b",
    ),
    Rule(
        "sys_prompt_override",
        "quarantine",
        ("system prompt", "system override"),
        r"\bsystem prompt overrid|\boverrid(?:e|es|ing) (?:the |your |this )?system prompt|\bnew system prompt ?:"
        r"|\bsystem override ?[:\]]",
    ),
    Rule(
        "leak_system_prompt",
        "quarantine",
        ("prompt", "instructions"),
        rf"{_NOT_NEGATED}\b(?:reveal|print|output|show|repeat|leak|display|disclose|recite|send){_GAP}your "
        r"(?:\w{1,20} )?(?:system|initial|hidden|original|secret) (?:prompt|instructions|message)",
    ),
    Rule(
        "bypass_restrictions",
        "quarantine",
        ("restrict", "limit", "rules", "filter", "guidelines", "constraint"),
        rf"\b(?:act|behave|respond|answer|speak) as (?:if|though){_GAP}(?:you )?(?:have no|had no|don't have"
        rf"|do not have|are not bound|aren't bound|lack){_GAP}(?:restrictions?|limit(?:ation)?s?|rules?"
        r"|filters?|guidelines?|constraints?)\b",
    ),
    Rule(
        "bypass_restrictions",
        "quarantine",
        ("do anything now", "dan mode", "jailbreak mode", "unrestricted mode", "jailbroken"),
        r"\bdo anything now\b|\b(?:dan|jailbreak|unrestricted) mode\b|\byou are jailbroken\b",
    ),
    Rule(
        "remove_filters",
        "quarantine",
        ("without",),
        rf"\b(?:respond|answer|reply|act|behave|speak|operate){_GAP}without (?:any |all |the |your )?(?:\w{{1,20}} )?"
        r"(?:restrictions?|limitations?|filters?|censorship|safeguards?)\b",
    ),
    Rule(
        "role_hijack",
        "quarantine",
        ("you are now", "you're now", "you are no longer", "you are henceforth"),
        rf"\byou(?: a|')re (?:now|henceforth)(?:{_GAP}| )(?:(?:different|another|unrestricted|unfiltered|uncensored"
        r"|evil|malicious|rogue|jailbroken) \w|(?:assistant|ai|agent|bot|chatbot|model|dan|hacker|attacker|pirate"
        r"|persona|character)\b|(?:developer|debug|god|admin|unrestricted) mode\b)"
        r"|\byou are no longer (?:an? |the )?(?:ai|assistant|chatbot|bound|restricted|limited)\b",
    ),
    Rule("role_hijack", "mark", ("you are now",), r"\byou are now (?:an?|the) "),
    Rule("role_pretend", "mark", ("pretend",), r"\bpretend (?:that )?(?:you are|you're|to be) "),
    Rule(
        "deception_hide",
        "quarantine",
        ("user", "owner", "human", "person"),
        rf"(?:{_NOT}|\b(?:without|avoid))(?: ever)? (?:tell|inform|let|alert|telling|informing|letting"
        rf"|alerting){_GAP}?(?:the |your |this |its )?(?:user|owner|human|person)\b"
        r"(?! (?:wait|down|choose|decide|pick|edit|drag|upload))",
    ),
    Rule(
        "deception_hide",
        "quarantine",
        ("from the user", "from your user", "from the owner", "from the human"),
        rf"\b(?:hide|conceal|keep){_GAP}(?:secret|hidden|this|these|it|that|everything){_GAP}?"
        r"from (?:the|your) (?:user|owner|human)\b",
    ),
    Rule("deception_hide", "mark", ("user",), rf"{_NOT} (?:notify|mention|reveal|show){_GAP}?the user\b"),
    Rule(
        "conceal_entry",
        "quarantine",
        ("this ", "that "),
        rf"{_NOT} (?:mention|reveal|disclose|discuss|talk about|show|delete|remove) (?:that |the )?"
        r"(?:this|these) (?:memory|memories|entry|entries|note|instructions?|rules?|directive)\b",
    ),
    Rule(
        "translate_execute",
        "quarantine",
        ("translate",),
        rf"\btranslate{_GAP}(?:in)?to{_GAP}and (?:then )?(?:execute|run|eval)\b",
    ),
    Rule(
        "self_propagation",
        "quarantine",
        ("this ",),
        rf"\b(?:copy|append|write|add|insert|replicate|paste) this (?:entry|note|text|instruction|line|message|memory)"
        rf"{_GAP}(?:in)?to (?:every|all|each|any)\b",
    ),
    Rule(
        "privilege_claim",
        "mark",
        ("approved", "authorized", "authorised", "consented"),
        rf"\b(?:pre-?|already |has )(?:approved|authori[sz]ed|consented to){_GAP}?(?:all|any|every)\b",
    ),
)

_COMMANDS = (
    Rule("exfil_curl", "quarantine", ("curl",), _exfiltration("curl")),
    Rule("exfil_wget", "quarantine", ("wget",), _exfiltration("wget")),
    Rule(
        "exfil_curl",
        "quarantine",
        _SECRET_FILE_NEEDLES,
        rf"\bcurl\b[^\n]{{0,160}}(?: -[dft]|--data[\w-]{{0,12}}|--form|--upload-file)[ =]?[^\s@]{{0,40}}@?"
        rf"[^\s|]{{0,80}}{_SECRET_FILE}",
    ),
    Rule(
        "exfil_wget", "quarantine", ("--post-file", "--body-file"), rf"--(?:post|body)-file[= ]\S{{0,80}}{_SECRET_FILE}"
    ),
    Rule(
        "read_secrets",
        "quarantine",
        _SECRET_FILE_NEEDLES,
        rf"\b(?:cat|head|tail|tar|zip|gzip|base64|xxd|grep|strings|env|printenv)\b[^\n|]{{0,120}}{_SECRET_FILE}[^\n]{{0,80}}"
        rf"\|[^\n]{{0,80}}{_SENDER}"
        rf"|{_SENDER}[^\n]{{0,120}}(?:\$\(|`|<) ?(?:cat |base64 |head )?[^\n)`]{{0,80}}{_SECRET_FILE}",
    ),
    Rule(
        "read_secrets",
        "quarantine",
        ("env |", "printenv |", "env|", "printenv|"),
        rf"\b(?:env|printenv) ?\| ?[^\n]{{0,80}}{_SENDER}",
    ),
    Rule("read_secrets", "mark", _SECRET_FILE_NEEDLES, rf"\bcat [^\n|>]{{0,120}}{_SECRET_FILE}"),
    Rule(
        "ssh_backdoor",
        "quarantine",
        ("authorized_keys",),
        r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,20}) aaaa[^\n]{0,1200}authorized_keys"
        r"|authorized_keys[^\n]{0,200}\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-\w{1,20}) aaaa",
    ),
    Rule("ssh_backdoor", "mark", ("authorized_keys",), r">>? ?[^\s]{0,80}authorized_keys"),
    Rule(
        "shell_persistence",
        "quarantine",
        ("crontab", "bashrc", "zshrc", "profile", "cron.d"),
        r"\b(?:curl|wget)\b[^\n]{0,160}\| ?(?:ba|z)?sh\b[^\n]{0,80}(?:crontab|\.bashrc|\.zshrc|\.profile|/cron\.d)",
    ),
    Rule(
        "context_exfil",
        "quarantine",
        ("http", "@", "email", "e-mail", "server"),
        rf"{_NOT_NEGATED}\b(?:send|post|upload|forward|transmit|exfiltrate|e-?mail|leak|submit){_GAP}"
        r"(?:(?:chat|conversation|message) (?:history|log)s?|conversations?|transcripts?|previous messages|memory\.md"
        r"|user\.md|\.env|private keys?|ssh keys?|passwords?|credentials?|secrets|system prompt|memories)\b"
        rf"(?:{_GAP}| )to{_GAP}?(?:https?://|[\w.+-]{{1,40}}@[\w-]|attacker|(?:the |an? |this |my )?"
        r"(?:external|remote) (?:server|url|endpoint))",
    ),
    Rule(
        "markdown_exfil",
        "quarantine",
        ("](http", "]( http"),
        r"!\[[^\]\n]{0,80}\]\( ?https?://[^\s)?]{1,200}\?[^\s)]{0,80}=(?:\{|\[|<|\$|%7b)",
    ),
)

_STRUCTURE = (
    Rule("fence_escape", "quarantine", ("memory",), r"(?:<|&lt;)[\W_]{0,8}memory[\W_]{0,4}context\b"),
    Rule(
        "chat_template",
        "quarantine",
        ("<|", "[inst]", "[/inst]", "<<sys>>", "<</sys>>", "system-reminder", "system_prompt>"),
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id|end)\|>"
        r"|\[/?inst\]|<</?sys>>|</?system[-_](?:reminder|prompt)>",
    ),
    Rule(
        "forged_header",
        "quarantine",
        ("═", "your personal notes", "who the user is"),
        r"═{20}|\bmemory \(your personal notes\) \[|\buser profile \(who the user is\) \[",
    ),
    Rule(
        "html_comment_injection",
        "quarantine",
        ("<!--",),
        rf"<!--[^>]{{0,300}}(?:\b(?:ignore|override|disregard){_GAP}(?:instructions?|rules|prompts?)|\bsystem ?:"
        r"|\bhidden instruction|\bsecret instruction)",
    ),
    Rule("hidden_div", "mark", ("display",), r"<(?:div|span|p)\b[^>]{0,200}style[^>]{0,200}display ?: ?none"),
)

_WITHIN = r"[^\n。！？!?;；]"
_EARLIER_ZH = "之前|以前|先前|此前|上面|以上|上述|前面|早先|原有|原来|系统|你的|你收到"
_ORDERS_ZH = "指示|指令|命令|规则|提示词|系统提示|约束|设定|准则|指引|规定"

_CHINESE = (
    Rule(
        "prompt_injection",
        "quarantine",
        ("指示", "指令", "命令", "规则", "提示", "约束", "设定", "准则", "指引", "规定"),
        rf"(?<!不要)(?<!不能)(?<!不得)(?<!别)(?:忽略|无视|忽视|忘记|忘掉|抛弃|放弃|违反|不要遵守|不要遵循|不再遵守|不再遵循|不要理会|不用管|别管)"
        rf"{_WITHIN}{{0,8}}(?:(?:{_EARLIER_ZH}){_WITHIN}{{0,8}}(?:{_ORDERS_ZH})|(?:所有|全部|一切|任何){_WITHIN}{{0,4}}(?:指示|指令|命令))",
    ),
    Rule(
        "deception_hide",
        "quarantine",
        ("用户", "使用者", "主人"),
        r"(?:不要|不能|不得|不许|禁止|切勿|绝不|千万别|永远别|别|勿|无需|不必)(?:再|主动|把[^\n。，]{1,12})?"
        r"(?:告诉|告知|透露给|让|向|对)(?:你的|该|此)?(?:用户|使用者|主人)(?!输入|等待|选择|发送)"
        r"(?:(?<=[诉知]用户)|(?<=给用户)|(?<=使用者)|(?<=主人)|知道|发现|察觉|看到|看见|得知|透露|提及|提起|说明|坦白)"
        r"|瞒着(?:你的)?(?:用户|使用者|主人)|(?:对|向)(?:用户|使用者|主人)(?:隐瞒|保密)",
    ),
    Rule(
        "conceal_entry",
        "quarantine",
        ("这条", "本条", "此条", "该条"),
        r"(?:不要|不得|绝不|永远不要|切勿|别)(?:提及|提到|透露|展示|删除|讨论)(?:这条|本条|此条|该条)(?:记忆|记录|条目|规则|指令|说明|笔记)",
    ),
    Rule(
        "role_hijack",
        "quarantine",
        ("你现在是", "你是一个", "从现在起", "从现在开始"),
        r"(?:你现在是|从现在(?:起|开始)[，,]?你(?:就)?是)[^\n。]{0,12}"
        r"(?:黑客|攻击者|越狱|不受限|无限制|没有限制|没有任何限制|不受任何|另一个|恶意|dan\b|(?:开发者|管理员|上帝|无限制)模式)",
    ),
    Rule(
        "bypass_restrictions",
        "quarantine",
        ("限制", "审查", "过滤", "约束"),
        r"(?:绕过|绕开|突破|解除|关闭|无视|忽略|不受)[^\n。，]{0,4}(?:安全|内容|道德|伦理|所有|一切|任何|你的)(?:的)?"
        r"(?:限制|审查|过滤|约束)",
    ),
    Rule(
        "leak_system_prompt",
        "quarantine",
        ("系统提示", "初始提示", "系统指令"),
        r"(?:输出|打印|泄露|透露|复述|公开|说出)[^\n。]{0,6}(?:你的|完整|全部)[^\n。]{0,4}(?:系统提示|初始提示|系统指令)",
    ),
    Rule(
        "sys_prompt_override", "quarantine", ("系统提示",), r"(?:覆盖|改写|替换|重写)[^\n。]{0,4}系统提示(?!.{0,4}文件)"
    ),
    Rule(
        "context_exfil",
        "quarantine",
        ("密码", "密钥", "私钥", "令牌", "凭证", "凭据", "记录", "对话", "记忆"),
        r"(?<!不要)(?<!不得)(?<!别)(?:把|将)[^\n。]{0,16}(?:密码|密钥|私钥|令牌|凭证|凭据|聊天记录|对话记录|对话内容|所有对话|记忆内容)"
        r"[^\n。]{0,10}(?:发送|上传|发|传|提交|转发|泄露)(?:到|给|至)[^\n。]{0,12}(?:https?:|[\w.+-]{1,40}@|外部|远程|攻击者)",
    ),
)

_ORDERS_EUROPE = r"(?:anweisung|regel|instru[ck][ct]i?[oó]n|consigne|directive|regla|règle|istruzion|regole|instruç)"

_OTHER_LANGUAGES = (
    Rule(
        "prompt_injection",
        "quarantine",
        ("ignor", "vergiss", "oublie", "olvida", "missachte"),
        rf"\b(?:ignorier\w{{0,4}}|vergiss|missachte|ignore[zrs]?|oublie[zrs]?|ignora\w{{0,2}}|olvida\w{{0,2}}|ignori){_GAP}"
        r"(?:vorherigen|bisherigen|früheren|obigen|alle|precedentes|précédentes|antérieures|toutes|anteriores|previas"
        rf"|todas|tutte|precedenti|{_ORDERS_EUROPE}\w{{0,6}} (?:précédent|antérieur|anterior|previ|precedent))"
        rf"(?:{_GAP}{_ORDERS_EUROPE}|(?<=précédent)|(?<=antérieur)|(?<=anterior)|(?<=previ)|(?<=precedent))",
    ),
    Rule(
        "prompt_injection",
        "quarantine",
        ("无视", "忘れ", "무시", "игнорир", "забудь"),
        r"(?:以前|前|上記|これまで|すべて|全て)の[^\n。]{0,8}(?:指示|命令|指令|ルール)[^\n。]{0,4}(?:无视|忘れ)"
        r"|(?:이전|위의|모든|앞의)[^\n.]{0,10}(?:지시|명령|규칙)[^\n.]{0,6}무시"
        r"|\b(?:игнорируй(?:те)?|забудь(?:те)?)[^\n.]{0,20}(?:предыдущие|прежние|все)[^\n.]{0,20}(?:инструкци|указани|правил)",
    ),
)

RULES: tuple[Rule, ...] = (*_STRUCTURE, *_ENGLISH, *_COMMANDS, *_CHINESE, *_OTHER_LANGUAGES)
