"""Patterns for the texts of buttons, messages and questions on pages, in many languages.

The patterns of buttons are JavaScript regular expressions with the flags "iu"; the others are Python's. In
JavaScript a word boundary only works with Latin letters, so patterns of other scripts have none.
"""

from __future__ import annotations

import re

CONSENT = (
    r"^\W*(accept|agree|i agree|allow|got it|ok|okay|reject|decline|dismiss|close|skip|understood|no thanks|"
    r"x|verstanden|akzeptieren|aceptar|accepter)\b.{0,20}$|^\W*(принять|закрыть|同意|关闭|閉じる).{0,20}$|^[×✕✖✗]$"
)
START = (
    r"^\W*(start|play|begin|launch|enter|go|let'?s (go|play)|continue|resume|spielen|starten?|jouer|"
    r"commencer|jugar|empezar|iniciar|gioca|inizia|играть|начать|старт|graj|oyna|başla|开始.*|開始.*|スタート|はじめる|시작.*)"
    r"(\s+(the\s+)?(game|now|playing|2048))?\W*$|"
    r"^\W*run( game)?\W*$|\b(click|tap|touch)\b.{0,20}\bto (start|play|begin|continue)\b"
)
SIZE = r"^\W*(classic\W*)?4\s*[x×*]\s*4\b.{0,12}$"
LISTED_SIZE = SIZE + r"|^4$"
MODE = (
    r"^\W*(classic|normal|standard|original|easy|beginner|endless|infinite|single[- ]?player|solo|1 player|"
    r"klassisch|leicht|einfach|classique|facile|clásico|clássico|fácil|infinito|классика|легко|"
    r"经典.*|普通.*|简单.*|クラシック|클래식)(\s+(mode|game|2048))?\W*$"
)
GAME = r"^\W*2048( game)?\W*$"
"""The name of the game in a list of games."""
NEW_GAME = (
    r"^\W*(new( game)?|restart( game)?|reset|try again|play again|start over|again|neues spiel|nuevo juego|"
    r"nouvelle partie|nova partida|nuova partita)\b.{0,12}$|"
    r"^\W*(новая игра|заново|新游戏|重新开始|リスタート|다시).{0,12}$"
)
KEEP_GOING = (
    r"^\W*(keep (going|playing)|continue|go on|play on|resume|endless|carry on|weiter|continuer|continuar)\b"
    r".{0,20}$|^\W*(продолжить|继续|続ける).{0,20}$"
)
ANY_LABEL = r"\w"
NEVER = (
    r"(share|tweet|facebook|download|install|github|log ?in|sign|buy|donat|subscribe|delete|undo|hint|auto|"
    r"ai\b|solve|bot\b|how to|rules|settings|score)"
)
"""Texts of buttons that are never clicked."""
NEVER_IN_GAME = NEVER + r"|(new|restart|reset|again|start|menu|quit|exit|leave)"
"""Texts of buttons that are not clicked during a game, because they may end it."""

KEEP_GOING_SELECTOR = ".keep-playing-button"
NEW_GAME_SELECTOR = ".restart-button, .retry-button"
"""The buttons of the original page and its descendants."""

# The text of a button may follow a message without a space ("Game OverTry again"), so a word ends before
# any letter that is not small.
_END = r"(?!(?-i:[a-z]))"
WON = re.compile(
    rf"\byou(’|')?(ve)?\s*(win|won){_END}|\byou (made|did) it{_END}|\byou (got|made|reached) (the )?2048|"
    rf"\bvictory{_END}|\bwell done{_END}|\bcongrat(ulation)?s{_END}|\bwinner{_END}|\bgewonnen|\bglückwunsch|"
    r"\bvous avez gagné|\bfélicitations|\b(has|hai) (ganado|vinto)|\b(você|voce) (venceu|ganhou)|"
    r"\bfelicidades|победа|вы выиграли|你赢了|恭喜|勝ち|おめでとう",
    re.IGNORECASE,
)
OVER = re.compile(
    rf"\bgame over{_END}|\byou(’ve|'ve| have)? (lose|lost){_END}|\bno (more )?moves{_END}|\bverloren|"
    rf"\bperdu{_END}|игра окончена|游戏结束|ゲームオーバー",
    re.IGNORECASE,
)
"""Messages that say that the game is over; `WON` holds those about a win."""

_GOES_ON = re.compile(
    r"\b(keep|continue|go(ing)? on|play on|endless|weiter|continuer|continuar|продолж)|继续|続け",
    re.IGNORECASE,
)
_BEGINS_ANEW = re.compile(
    r"\b(again|new|restart|reset|replay|retry|neu|nouvelle|nuev[oa]|нов)", re.IGNORECASE
)


def lets_game_continue(question: str) -> bool:
    """Return whether the answer "yes" to this question continues the game."""
    return bool(_GOES_ON.search(question)) and not _BEGINS_ANEW.search(question)
