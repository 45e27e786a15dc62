"""What a vendor's refusal means: from its HTTP status and its words to one of our errors (pure).

Vendors share neither codes nor wordings, and gateways pass on those of others, so the words of many are known here.
"""

import re
from collections.abc import Iterable

from girdlebook.errors import ContextOverflow, ModelError, ModelTimeout, ModelUnavailable

_SCANNED = 2_000
"""Characters of a message that are looked at: what comes behind is often the request, given back."""

_SHOWN = 300
"""Characters of a message that an error of ours repeats."""

_TIMEOUTS = {408, 504, 524}
_REFUSED = {401, 402, 403, 429}
_TOO_LONG = {400, 413, 422}
_SERVER_FAULT = 500


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_UNAVAILABLE_WORDS = _any_of(
    (
        r"insufficient[_ ](?:quota|balance|funds|credits?)|current[_ ]quota|quota[_ ](?:is |has been )?exceeded",
        r"exceed\w* .{0,30}quota|credit balance|payment required|arrearage|good standing",
        r"billing (?:hard limit|details)",
        r"rate[_ ]?limit|too many requests|throttl|\b[TR]P[MD]\b|per (?:min|minute|hour|day)\b",
        r"(?:daily|monthly) .{0,20}limit",
        r"overloaded|(?:service|model) (?:is )?(?:temporarily |currently )?unavailable",
        r"(?:invalid|incorrect|missing|no such|unknown|expired) (?:x-)?api[-_ ]?key",
        r"api[-_ ]?key (?:is )?(?:not|invalid|expired)",
        r"api_key client option must be set|missing credentials|unauthorized",
        r"authentication[ _](?:error|method|fail\w*)",
        r"余额|欠费|额度|配额|限流|频率|频次|频繁|并发|每分钟|无可用渠道|负载|密钥|鉴权",
    )
)
"""They come with status 400 too, and in a stream without any."""

_WINDOW = (
    r"(?:context|prompt|model)[_ ](?:length|len|window|size|limit|budget)|max_(?:model|seq)_len|model token limit"
    r"|(?:max(?:imum)?|configured) (?:length|size|number of tokens|(?:allowed )?input length|limit)"
)
_REQUEST = r"(?:prompt|input|request|context|messages|conversation)"
_ZH_REQUEST = r"(?:上下文|输入|提示词|prompt|消息|对话|请求|(?<!max_)tokens?)"
_ZH_WITHIN = r"[^，。；\n图件次具名]{0,16}"

_OVERFLOW_WORDS = _any_of(
    (
        r"context[_ ](?:length|window|size)[_ ](?:has been )?exceeded|exceed_context_size|context overflow",
        rf"\b{_REQUEST}\b.{{0,80}}?\bexceed\w*\b.{{0,40}}?(?:{_WINDOW}|limit of \d|length limit)",
        r"exceed\w*\b.{0,40}?(?:context[_ ](?:length|window|size|limit|budget)|model token limit)",
        r"context (?:length|window|size|limit)\b.{0,20}? exceed|(?<!output )token limit exceeded",
        rf"(?:longer|greater|larger) than .{{0,40}}?(?:{_WINDOW})",
        r"max(?:imum)? (?:context|prompt|model) length (?:is|of)\b|context (?:length|size) (?:is|of)\b(?: only)?",
        rf"\b{_REQUEST} (?:is |are )?too (?:long|large)\b|too large for model with",
        r"too many (?:input |prompt |total )?tokens|request_too_large|request entity too large",
        r"reduce (?:the length of )?(?:the|your) (?:messages|prompt|input)",
        r"range of input length|tokens to keep from the initial prompt|requires more context",
        r"prompt_tokens.{0,30}must be less than|inputs`.{0,40}must (?:have less than|be <=)",
        r"tokens in the (?:prompt|request|input) cannot exceed",
        rf"{_ZH_REQUEST}{_ZH_WITHIN}(?:超长|过长|太长|超限)",
        rf"{_ZH_REQUEST}{_ZH_WITHIN}(?:超过|超出|大于){_ZH_WITHIN}(?:上下文|长度|限制|上限|最大|窗口)",
        rf"(?:超过|超出|大于){_ZH_WITHIN}(?:上下文|输入长度|窗口)",
        rf"(?:上下文|输入长度|(?<!max_)tokens?){_ZH_WITHIN}(?:超过|超出|大于)\s*\d",
    )
)

_TIMEOUT_WORDS = _any_of((r"timed? out|timeout_error|deadline exceeded",))
_FAULT_WORDS = _any_of((r"\bapi_error\b|\bserver_error\b|internal server error|bad gateway",))

_NUMBER = (
    r"(\d{1,3}(?:[,_]\d{3})++(?!\d)|\d++)\s?([km](?![a-z]))?(?!\s*(?:bytes?|char(?:acter)?s?|[kmg]i?b)\b)(?!\s*个?字)"
)
_IS = r"(?: is| are| of|为|是)?(?: only| just)?\s*[:=：(（]?\s*"

_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"max(?:imum)? (?:context|prompt|model|sequence) (?:length|size){_IS}{_NUMBER}",
        rf"\d (?:tokens )?> {_NUMBER}",
        rf"(?:context|model)[_ ](?:length|window|size|limit){_IS}{_NUMBER}",
        rf"\bn_ctx['\"]?{_IS}{_NUMBER}",
        rf"\bmax_(?:model|seq)_len['\"]?{_IS}{_NUMBER}",
        rf"{_NUMBER} (?:tokens? )?max(?:imum)? context length",
        rf"model token limit{_IS}{_NUMBER}",
        rf"maximum number of tokens(?: allowed)?{_IS}{_NUMBER}",
        rf"maximum (?:allowed )?(?:input )?length{_IS}{_NUMBER}",
        rf"input length should be \[\d+, ?{_NUMBER}\]",
        rf"(?:input|prompt)\b.{{0,60}}exceed\w*(?: the)?(?: configured)? limit{_IS}{_NUMBER}",
        rf"inputs`.{{0,40}}must (?:have less than|be <=) {_NUMBER}",
        rf"tokens in the (?:prompt|request|input) cannot exceed {_NUMBER}",
        rf"(?:上下文|窗口|长度|限制|上限|最大值)(?:长度|窗口|大小|限制|上限)*{_IS}{_NUMBER}",
        rf"(?:超过|超出|大于)[^\d，。；\n]{{0,16}}?{_NUMBER}",
    )
)
"""Where a window's size stands, the surest first: sizes of requests stand in the same sentences."""

_PLAUSIBLE = range(256, 100_000_001)
"""Windows in tokens: a number outside counts something else."""

_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}


def translate(what: str, status: int | None, text: str) -> ModelError:
    """The error that a failed call ends with.

    Parameters:
        what: which model was asked and where; it begins the message.
        status: the HTTP status; None, or one that means success, where the failure came inside a stream.
        text: what the vendor said, with its code where it has one.
    """
    message = f"{what}: {' '.join(text.split())[:_SHOWN]}"
    words = text[:_SCANNED]
    if _is_timeout(status, words):
        return ModelTimeout(message)
    if _is_unavailable(status, words):
        return ModelUnavailable(message)
    if _is_overflow(status, words):
        return ContextOverflow(message, limit=parse_limit(words))
    return ModelError(message)


def parse_limit(text: str) -> int | None:
    """The window in tokens that a message about a too long request names, None where it names none."""
    for pattern in _LIMITS:
        for digits, suffix in pattern.findall(text[:_SCANNED]):
            limit = int(re.sub(r"[,_]", "", digits)) * _FACTORS[suffix.lower()]
            if limit in _PLAUSIBLE:
                return limit
    return None


def _is_timeout(status: int | None, words: str) -> bool:
    return status in _TIMEOUTS or (_is_untold(status) and bool(_TIMEOUT_WORDS.search(words)))


def _is_unavailable(status: int | None, words: str) -> bool:
    if status is not None and (status in _REFUSED or status >= _SERVER_FAULT):
        return True
    return bool(_UNAVAILABLE_WORDS.search(words) or (_is_untold(status) and _FAULT_WORDS.search(words)))


def _is_overflow(status: int | None, words: str) -> bool:
    if status == 413:
        return True
    return (_is_untold(status) or status in _TOO_LONG) and bool(_OVERFLOW_WORDS.search(words))


def _is_untold(status: int | None) -> bool:
    return status is None or status < 400
