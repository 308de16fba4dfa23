"""What around a name tells whether it is a person's or a place's: how people are spoken to, what they do, what they have.

Short lists of our own, for spoken and for told text. A single cue proves nothing; `cast.py` weighs them.
"""

from __future__ import annotations

import re


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


_DEEDS = """
want wants wanted know knows knew think thinks thought like likes liked love loves loved hate hates hated feel feels felt try tries tried
see sees saw hear hears heard believe believes believed decide decides decided remember remembers remembered forget forgets forgot wonder
wonders wondered hope hopes hoped need needs needed go goes went come comes came die dies died fight fights fought kill kills killed speak
speaks spoke talk talks talked attack attacks attacked jump jumps jumped begin begins began start starts started pick picks picked keep keeps
kept look looks looked get gets got make makes made find finds found bring brings brought meet meets met marry marries married live lives lived
work works worked grow grows grew
will möchte weiß denkt mag liebt hasst fühlt sieht hört glaubt sait pense aime déteste sent voit entend croit sabe piensa ama odia siente ve oye
знает думает любит видит слышит чувствует
"""
_OWNED = """
hand hands face eye eyes head arm arms voice shoulder shoulders back mouth lips hair mind body heart leg legs feet neck mother father brother
sister wife husband son daughter child children friend friends turn room name family house bed sword bow axe staff armor armour coat cloak smile
gaze fingers chest life death soul
"""
_KIN = "brother sister father mother uncle aunt friend wife husband son daughter cousin boss"
_WORDS_TO = "you you're you’re your yours can you could you would you do you did you are you have you will you"

DOES = re.compile(rf"\s+(?:[a-z]+ly\s+|just\s+|also\s+|really\s+)?(?:{'|'.join(_DEEDS.split())})\b")
HAS = re.compile(rf"['’]s?\s+(?:[a-z]+\s+)?(?:{'|'.join(_OWNED.split())})\b")
# `Grog, you ...`, `hey Grog`, `..., Grog.`, `Grog, come here`
TOLD_TO = re.compile(
    rf"\s*,\s*(?:{'|'.join(_WORDS_TO.split())}|come|let's|let’s|look|go|help|please|don't|don’t|stop|wait|what|how|where|why|I|I'm|I’m)\b",
    re.I,
)
HAILED = re.compile(
    r"(?:^|[\s(“\"])(?:hey|hi|hello|thanks|thank you|sorry|goodbye|bye|dear|welcome|congratulations|congrats|farewell|good (?:morning|evening|night|job)|"
    r"well done|come on|what about you|and you|hallo|danke|bonjour|merci|hola|gracias|привет|спасибо),?\s+$",
    re.I,
)
ADDRESSED = re.compile(r",\s+$")  # with an end mark behind the name
END_MARK = re.compile(r"\s*(?:[.!?…]|$)")
CALLED = re.compile(
    rf"(?:\b(?:named|called|call me|my name is|name's|name’s|I am|I'm|I’m|it's me|meet|introduces?|known as|{_KIN.replace(' ', '|')}|heißt|nommée?|s'appelle|se llama|зовут)\b,?\s+)$",
    re.I,
)
MET = re.compile(
    r"\b(?:says?|said|asks?|asked|tells?|told|talk(?:s|ed|ing)? (?:to|with)|speak(?:s|ing)? (?:to|with)|spoke (?:to|with)|looks? (?:over )?at|looked at|"
    r"gives?|gave|helps?|helped|follows?|followed|hugs?|hugged|kiss(?:es|ed)?|loves?|loved|saves?|saved|marry|marries|married|trusts?|trusted|"
    r"hands?|handed|heals?|healed|thanks?|thanked|and (?:I|he|she)|with|behind|beside)\s+$",
    re.I,
)
SHE = re.compile(r"[^.!?\n]{0,70}?\b(?:he|she|him|her|his|hers|himself|herself)\b")
# A pronoun must not be that of somebody else named in between.
ARTICLE = re.compile(
    r"\b(?:the|a|an|this|that|these|those|some|any|every|each|another|der|die|das|ein|eine|le|la|les|un|une|el|los|las)\s+$",
    re.I,
)
# `in Kraghammer`, `the city of Whitestone`
WHERE = re.compile(
    r"\b(?:in|into|at|from|through|outside|inside|near|toward|towards|across|within|beneath|leave|leaves|left|leaving|reach|reaches|reached|enter|"
    r"enters|entered|visit|visits|visited|visiting|(?:city|town|village|kingdom|land|port|isle|island|ruins?|streets?|gates?|people) of|back to|"
    r"(?:go|goes|going|went|come|came|travel|travels|travell?ed|travell?ing|move|moved|moving|trip|fly|flew|head|heading|way|road|return|returned) to|"
    r"nach|aus|à|en|hacia|desde|в|из)\s+(?:the\s+)?$",
    re.I,
)
# `Greyspine Quarry`, `The Broken Anchor Inn`: the last word says what it is.
PLACE_WORDS = _words("""
    abbey alley arena bay beach bridge camp canyon castle cathedral cave cavern caverns caves chapel church
    citadel city cliffs coast court crossing desert docks estate falls farm forest fort fortress garden gardens
    gate glade hall harbor harbour haven heights hill hills hollow house inn island islands isle keep kingdom
    lake lands lodge manor market marsh mill mine mines monastery moor mountain mountains oasis palace park pass
    peak peaks plains plaza port prison province quarry quarter reef ridge river road ruins sanctuary sea shop
    shore shrine spire square station street swamp tavern temple theater theatre tower town tunnel tunnels
    university vale valley vault village wall wastes wood woods café cafe school college hotel restaurant studio
    bar pub gym museum library
""")
# Labels and words that are nobody's name although they are written with a capital.
NOBODY = _words("""
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter halloween god gods goddess jesus christ lord lady sir
    ma'am mom dad mum mommy daddy okay yes no yeah hey oh wow ooh yay yep yup hello thanks english french german
    spanish italian russian chinese japanese elvish dwarvish common bye goodbye whoa woah hmm ugh sorry please
    congrats welcome cheers sure right alright nice aww haha
""")
# Labels of many who speak as one.
EVERYBODY = frozenset({"all", "everyone", "everybody", "both", "group", "crowd", "alle", "tous", "todos", "все"})
