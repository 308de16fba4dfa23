"""Words by which the continuity check reads prose: deeds, places to be in, travel, things that change hands, and doubt.

Short lists of our own for the languages in which people write campaigns. A word that is missing lets something pass; a
word too many raises a false alarm, so the lists keep to words that hardly mean anything else.
"""

from __future__ import annotations

import re

from rolecall.campaign.narration import BLANK
from rolecall.campaign.patterns import Pattern

_SPEAKING = """
says said asks asked answers answered replies replied whispers whispered mutters muttered murmurs murmured shouts shouted calls called
cries cried tells told adds added snaps snapped growls growled mumbles mumbled hisses hissed explains explained agrees agreed insists insisted
admits admitted sighs sighed breathes declares declared demands demanded
sagt sagte fragt fragte antwortet antwortete flüstert flüsterte murmelt murmelte ruft rief schreit schrie erwidert erwiderte brummt brummte
dit demande demanda répond répondit murmure murmura chuchote crie cria souffle réplique ajoute
dice dijo pregunta preguntó responde respondió susurra susurró grita gritó murmura murmuró contesta contestó añade
disse chiede chiese risponde rispose sussurra mormora
говорит сказал сказала спрашивает спросил спросила отвечает ответил ответила шепчет прошептал прошептала кричит крикнул крикнула бормочет пробормотал пробормотала
"""

_DOING = """
nods nodded smiles smiled grins grinned laughs laughed shrugs shrugged frowns frowned winks winked bows bowed kneels knelt
walks walked steps stepped strides strode runs ran enters entered climbs climbed crosses crossed hurries hurried limps limped leads led
turns turned leans leaned leant reaches reached grabs grabbed takes took lifts lifted raises raised draws drew pulls pulled pushes pushed
opens opened closes closed pours poured drinks drank eats ate puts sets throws threw hands handed gives gave points pointed
waves waved shakes shook stands stood watches watched listens listened waits waited paces paced sings sang blinks blinked swallows swallowed
clears cleared yawns yawned hums hummed wipes wiped knocks knocked helps helped holds held joins joined follows followed picks picked sips sipped folds folded ducks ducked
nickt nickte lächelt lächelte lacht lachte geht ging kommt kam tritt trat hebt hob nimmt nahm zieht zog reicht reichte setzt setzte öffnet öffnete
steht stand dreht schüttelt schüttelte schenkt grinst grinste wartet wartete
s'assied s'assoit hoche sourit rit entre entra marche prend prit lève leva tend tire ouvre ouvrit verse avance avança hausse recule
asiente asintió sonríe sonrió ríe entra entró camina caminó toma tomó levanta levantó abre abrió sirve bebe
annuisce sorride ride prende alza apre
сидит сидел сидела курит стоит стоял стояла кивает кивнул кивнула улыбается улыбнулся улыбнулась смеётся смеется засмеялся засмеялась входит вошёл вошел вошла идёт идет пошёл пошел пошла
берёт берет взял взяла поднимает поднял подняла садится сел села встаёт встает встал встала открывает открыл открыла наливает налил налила
"""

_SPEAKS, _DOES = set(_SPEAKING.split()), set(_DOING.split())
_WITH_MORE = r"(?:looks?|looked|glances?|glanced|stares?|stared|sits|sat|gets|got|comes|came|goes|went|wakes|woke)\s+(?:up|down|at|over|out|in|through|into|across|around|round|back|along|to|toward|towards)"
_BETWEEN = r"(?:\s*,?\s+(?:[a-z]+ly|then|just|only|still|now|slowly|also|suddenly|already|never|dann|leise|langsam|alors|entonces|тихо|медленно))?"

_DEED = "|".join(sorted(map(re.escape, _SPEAKS | _DOES), key=len, reverse=True))
_SPEECH = "|".join(sorted(map(re.escape, _SPEAKS), key=len, reverse=True))

# After a name in told text: what its bearer does. Before a name, behind something said: who says it.
ACTS = Pattern(
    rf"{_BETWEEN}\s+(?:{_WITH_MORE}|(?:is|was)\s+(?:still\s+|already\s+)?(?!(?:ly|be|rott|miss|sleep|rest|float|hang|noth|someth)ing\b)[a-z]+ing|"
    rf"(?:waiting|laughing|smiling|talking|grinning|humming|singing|whispering|arguing)|(?:{_DEED}))(?![\w'’-])"
)
SPOKEN_BY = Pattern(rf"[{BLANK}][\"”“»«’,—–\s]*\s*(?:{_SPEECH})\s+(?:the\s+)?$")
ACTS_CJK = Pattern(
    r"(?:さん|様|殿)?(?:は|が)[^。！？\n]{0,30}?(?:言った|言う|答えた|笑った|微笑んだ|頷いた|うなずいた|立ち上がった|歩いて|囁いた|尋ねた|叫んだ|座った|振り向いた)"
    r"|(?:低声|轻声|大声|突然|慢慢|冷冷地|缓缓)?(?:说道|说|问道|问|笑了|笑道|点了点头|点头|走进|走来|站起|拿起|喊道|答道|叹了口气|低声说)"
)

# The dead may be remembered, dreamt of, told of, mourned, impersonated (said beside the deed) ...
NOT_NOW = Pattern(
    r"\b(?:remember\w*|recall\w*|memor(?:y|ies)|dream\w*|nightmare|vision|ghost\w*|spirit|spectre|specter|apparition|haunt\w*|phantom|wraith|"
    r"portrait|painting|painted|statue|photograph|letter|diary|ago|imagin\w*|corpse|grave|graves|coffin|funeral|burial|undead|zombie|revenant|lich|"
    r"necromanc\w*|reanimat\w*|risen|resurrect\w*|impostor|imposter|disguis\w*|illusion|mirage|legend|ballad|alive|back from|dead|died|death|"
    r"impossible|voice in|in your (?:head|mind)|last words|skull|bones|ashes|mourn\w*|namesake|"
    r"Traum|träum\w*|Geist|Erinnerung\w*|erinner\w*|früher|damals|Grab|Leiche|Sarg|Bild|Brief|"
    r"rêv\w*|fantôme|souven\w*|souviens|jadis|autrefois|tombe|cadavre|lettre|"
    r"sueñ\w*|fantasma|recuerd\w*|antaño|tumba|cadáver|carta|sogn\w*|ricord\w*|"
    r"вспомин\w*|вспомн\w*|помн\w*|сон|снится|сне|призрак\w*|когда-то|могил\w*|труп\w*|письм\w*)\b"
    r"|夢|幽霊|思い出|記憶|亡霊|墓|遺体|死|昔|手紙|梦|鬼|回忆|记得|想起|从前|尸|信",
    re.I,
)
# ... and may have done things before (said in the same sentence).
NOT_TRULY = Pattern(
    r"\b(?:once (?:had|was|told|said|taught|stood|used|upon|more had)|who once|used to|would|had|might|could|as if|as though|almost|like|body|bodies|note|journal|message|"
    r"mask|carving|story|stories|tale|song|play|years|when|before|until|if|echo\w*|mind|thinks? of|thought of|thinking of|wake|wished|young|"
    r"einst|hatte|tot|wenn|als|hätte|würde|avait|corps|mort|quand|si|había|muert\w*|cuando|aveva|тело|мертв\w*|мёртв\w*|был[аи]?|бы|если|когда)\b",
    re.I,
)

# Words that say somebody has come, gone or is elsewhere, so that two places are no contradiction.
TRAVEL = Pattern(
    r"\b(?:arriv\w*|return\w*|come[s]? back|came back|came home|comes home|travel\w*|journey\w*|rid(?:e|es|ing|den)|rode|sail\w*|march\w*|leav(?:e|es|ing)|left for|depart\w*|"
    r"set(?:s|ting)? (?:out|off)|head(?:s|ed|ing)? (?:for|to|back|north|south|east|west|home|out|down|up)|reach(?:es|ed)? the|cross(?:es|ed)? the|road|"
    r"(?:go|goes|going|went|gone|walk|walks|walked|walking|run|runs|ran|climb|climbs|climbed|hurry|hurries|hurried|step|steps|stepped|ride|slip|slips|slipped|follow|follows|followed|bring|brings|brought|carry|carries|carried|take|takes|took) (?:\w+ ){0,3}(?:to|into|up|down|out|back|across|through|over|home|from|along|past|toward|towards)|"
    r"com(?:e|es|ing)|came|enters?|entered|days? later|hours? later|weeks? later|next (?:day|morning|evening|week)|meanwhile|far away|miles|leagues|teleport\w*|portal|"
    r"reis\w*|ritt|reitet|kommt|kam|geht|ging|kehrt|zurück|verlässt|verließ|aufbruch|unterwegs|"
    r"arriv\w*|revien\w*|revient|voyag\w*|part(?:ent|it|ons|ez)?|quitt\w*|retourn\w*|entre|va|vas|allez|vient|"
    r"lleg\w*|vuelv\w*|volv\w*|viaj\w*|sal(?:e|es|ió|imos)|regres\w*|viene|"
    r"верну\w*|приех\w*|приш\w*|прибы\w*|уход\w*|уш[ёе]л|ушла|ид[ёе]\w*|пош\w*|выход\w*|вош\w*|вход\w*)\b",
    re.I,
)
GOES = Pattern(
    r"\b(?:leav(?:e|es|ing)|left|go|goes|going|went|walk\w*|rid(?:e|es|ing)|rode|run|runs|ran|climb\w*|travel\w*|journey\w*|head\w*|set (?:out|off)|return\w*|enter\w*|"
    r"cross\w*|follow\w*|arriv\w*|reach\w*|sail\w*|step\w*|come|comes|came|visit\w*|seek|find|search for|look for|make (?:my|our|for)|move|take (?:me|us)|slip\w*|hurr\w*|"
    r"geh\w*|ging|reit\w*|reis\w*|verlass\w*|verläss\w*|komm\w*|tret\w*|tritt|betret\w*|betritt|such\w*|folg\w*|"
    r"vais|vas|va|allons|allez|part\w*|quitt\w*|entr\w*|sor[st]\w*|cherch\w*|march\w*|arriv\w*|"
    r"voy|vas?|vamos|sal\w*|entr\w*|camin\w*|busc\w*|lleg\w*|viaj\w*|"
    r"ид\w*|пой\w*|пош\w*|вых\w*|вош\w*|вхо\w*|ищ\w*|еду|едем)\b",
    re.I,
)

# Nobody is surprised at the dead who are said to live, nor at somebody who has just come through the door.
BACK_AGAIN = Pattern(
    r"\b(?:alive|back from the dead|resurrect\w*|undead|ghosts?|risen|revenant|zombie|impostor|imposter|lebendig|von den Toten|vivante?|vivo|viva|жив[аой]?|воскрес\w*)\b|生きて|活着",
    re.I,
)
DOOR = Pattern(
    r"\b(?:door|gate|footsteps|steps on|knock\w*|hooves|horse|cart|wagon|sledge|boat|gangway|Tür|Tor|porte|puerta|двер\w*)\b",
    re.I,
)

# `NAME stands at ...`: where somebody is.
IS_IN = Pattern(
    r"\s+(?:is|was|stands|stood|sits|sat|waits|waited|lies|lay|sleeps|slept|works|worked|stays|stayed|kneels|knelt|is (?:standing|sitting|waiting|lying|sleeping|working|still)|"
    r"was (?:standing|sitting|waiting|lying|sleeping|working|still)|leans|leaned|ist|steht|stand|sitzt|saß|wartet|liegt|"
    r"est|était|se tient|attend|está|estaba|espera|находится|стоит|стоял[а]?|сидит|сидел[а]?|жд[ёе]т|лежит)"
    r"(?:\s+(?!and\b|but\b|when\b|und\b|et\b|y\b|и\b)[^\s.,;:!?]+){0,3}?"
    r"\s+(?:in|inside|at|on|by|beside|behind|under|within|outside|im|am|an|auf|bei|vor|dans|à|au|devant|en|junto a|в|у|на|около|возле)\s+(?:the\s+|der\s+|dem\s+|den\s+|la\s+|le\s+|el\s+)?$"
)
AWAY = Pattern(
    r"\b(?:once|used to|had|would|might|if|dream\w*|remember\w*|think|thinks|thought|imagin\w*|portrait|letter|wonder\w*|years ago|name|names|voice|not|n't|never|nobody|without|like)\b|n['’]t\b",
    re.I,
)

# What changes hands in a scene has two owners in it, and rightly.
TRANSFER = Pattern(
    r"\b(?:giv(?:e|es|ing|en)|gave|hands? (?:him|her|you|me|them|it|over|back)|handed|handing|pass(?:es|ed)?|tak(?:e|es|ing|en)|took|steal\w*|stole\w*|lend\w*|lent|borrow\w*|buy|buys|bought|sell|sells|sold|"
    r"trade\w*|tosses|tossed|throw\w*|threw|offer\w*|accept\w*|receiv\w*|snatch\w*|grab\w*|seiz\w*|lift\w*|pick\w*|find|finds|found|return\w*|win|wins|won|loot\w*|inherit\w*|"
    r"press(?:es|ed)|slid(?:e|es)?|push(?:es|ed)|catch\w*|caught|wrest\w*|disarm\w*|retriev\w*|copy|copies|replica|forger?y|fake|another|second|twin|let[s]? go|drop\w*|"
    r"gib\w*|gab|reich\w*|nimm\w*|nahm|stiehlt|stahl|leih\w*|donn\w*|tend|prend|prit|vol[eé]\w*|dio|entreg\w*|toma|tomó|rob\w*|"
    r"да[ёе]т|дал[а]?|отда\w*|переда\w*|бер[ёе]т|взял[а]?|укра\w*|протя\w*)\b",
    re.I,
)
# `NAME draws the ...`: only an owner does that.
WIELDS = Pattern(
    r"(?:\s+[a-z]+ly)?\s+(?:draws|drew|unsheathes|unsheathed|sheathes|sheathed|wields|wielded|brandishes|brandished|carries|carried|wears|wore|owns|owned|possesses|possessed|swings|swung|keeps|kept|"
    r"pulls out|pulled out|tucks away|tucked away|pockets|pocketed|polishes|polished|sharpens|sharpened|has(?= [^.]{0,60}\b(?:in|on|at|under) (?:his|her|their) (?:belt|coat|pocket|bag|hip|back|cloak|boot|sleeve))|"
    r"zieht|zog|trägt|trug|schwingt|schwang|besitzt|besaß|dégaine|dégaina|porte|portait|brandit|possède|desenvaina|desenvainó|lleva|llevaba|blande|empuña|posee|"
    r"обнажает|обнажил[а]?|нос[ия]т|носил[а]?|владеет|выхватывает|выхватил[а]?)"
    r"\s+(?:the|her|his|their|das|die|der|den|dem|le|la|l['’]|el|su|sein|seine|seinen|ihr|ihre|ihren|son|sa)?\s*$"
)

# Where we are: `in the Rusty Hook` at the head of a sentence or of what is there, `the Rusty Hook's taproom`.
ARTICLED = Pattern(r"(?:^|[\s\"“*_'’])(?:the|im|am|au|der|die|das|dem|den|la|le|el|los|las)\s+$", re.I)
INSIDE = Pattern(
    r"(?:^[\W_]*|[;:,]\s|\b(?:sit|sits|sat|stand|stands|stood|wait|waits|waited|drink|drinks|drank|are|is|stay|stays|here|back|(?:fire|hearth|talk|lamps?|candles?|air)(?:\s+\w+)?|"
    r"smoke|noise|crowd|tables?|light|warmth|sitzt|sitzen|steht|wartet|Feuer|assise?|assieds|attend|feu|sentad[oa]|espera|fuego)\s+)"
    r"(?:(?:in|inside|at|throughout|within|dans|en|à|dentro de)(?:\s+(?:the|der|dem|den|la|le|el|los|las))?|im|am|au)\s+$",
    re.I,
)
_PARTS = (
    r"(?:taproom|common room|hearth|bar|door|roof|rafters|kitchen|fire|floor|walls|windows|cellar|loft|stairs|sign|deck|hold|hull|nave|altar|"
    r"gate|hall|courtyard)"
)
STATIC_HERE = Pattern(rf"^['’]s\s+(?:\w+\s+){{0,2}}{_PARTS}\b", re.I)
PART_OF = Pattern(rf"\b{_PARTS}\s+of\s+(?:the\s+)?$", re.I)
FURNISHED = {
    "tavern": Pattern(
        r"\b(?:taproom|common room|bar|barkeep|beer|ale|mugs?|hearth|landlord|landlady|innkeeper|patrons|drinkers|stools?|regulars|cellar|"
        r"Schankraum|Bier|Tresen|Wirt|Wirtin|Krug|Krüge|comptoir|bière|chope|aubergiste|barra|cerveza|jarras?|posader[oa]|parroquianos|"
        r"пиво|стойк\w+|кружк\w+|трактирщи\w+)\b",
        re.I,
    ),
    "ship": Pattern(r"\b(?:deck|mast|sails?|hull|crew|helm|bow|stern|rigging|bilge|gunwale)\b", re.I),
}
NO_PLACE = Pattern(
    r"\b(?:book|books|war|wars|battle|age|ages|year|years|night|day|days|time|times|month|winter|summer|peace|plague|hunger|famine|siege|psalm|order|"
    r"name|tongue|hours|krieg|zeit|jahr|buch|guerre|temps|livre|guerra|tiempo|libro)\b",
    re.I,
)
QUIET = Pattern(r"^\s+(?:is|was|goes|falls|fell|grows|grew|has|smells|hums|empties|fills|ist|wird|est|está)\b", re.I)
INTRODUCED = Pattern(
    r"\b(?:named|called|name is|name was|known as|calls (?:himself|herself|itself|themselves)|introduc\w*|brother|sister|cousin|twin|son|daughter|father|mother|uncle|aunt|nephew|niece|"
    r"wife|husband|stranger|newcomer|a (?:man|woman|girl|boy|certain)|namens|heißt|genannt|Bruder|Schwester|nommée?|appelée?|frère|sœur|llamad[oa]|hermano|hermana|"
    r"по имени|зовут|брат|сестра)[ ,:“\"]+(?:\w+[ ,]+){0,2}$",
    re.I,
)
IS = Pattern(
    r"\s+(?:is|was|has|had|does|did|will|would|ist|war|hat|hatte|est|était|a|avait|está|estaba|tiene|был[аи]?)\s", re.I
)
SPEECH_BEFORE = Pattern(rf"(?:^|\W)(?:{_SPEECH})\s+$")

# Sorts of place. A name of another sort than the scene's is another place, not this one under a wrong name.
SORTS: dict[str, frozenset[str]] = {
    sort: frozenset(names.split())
    for sort, names in {
        "tavern": "tavern inn alehouse pub bar taproom saloon hostel hostelry taverna gasthaus wirtshaus schenke taverne auberge posada cantina taberna трактир таверна",
        "ship": "ship boat vessel cog sloop galley schiff navire bateau barco nave корабль",
        "temple": "temple chapel church shrine cathedral abbey monastery kirche tempel kapelle église temple chapelle iglesia templo capilla храм церковь",
        "keep": "castle keep fort fortress citadel palace stronghold burg festung schloss château forteresse castillo fortaleza замок крепость",
        "town": "town city village hamlet port settlement stadt dorf ville village ciudad pueblo город деревня",
        "tower": "tower spire lighthouse turm tour torre башня",
        "mine": "mine diggings quarry pit bergwerk mina шахта",
        "shop": "shop market store emporium smithy forge laden markt boutique marché tienda mercado лавка рынок",
        "wild": "forest wood woods moor wastes mountain mountains hill hills cave caves river lake sea swamp marsh island desert wald berg höhle forêt montagne bosque montaña лес гора country",
        "well": "well fountain spring brunnen puits pozo колодец",
        "street": "street lane road gate bridge stair stairs square quay dock docks harbour harbor straße platz rue place calle plaza улица площадь",
        "house": "house hall manor cottage barn mill library school guildhall haus halle maison casa дом",
    }.items()
}
FREELY_NAMED = frozenset({"tavern", "ship"})  # sorts whose names say nothing of what they are


def sort_of(words: str) -> str:
    """The sort of place a type or name speaks of, by its last telling word; empty when it says none."""
    found = [
        sort for word in re.findall(r"[^\W\d_]+", words.casefold()) for sort, names in SORTS.items() if word in names
    ]
    return found[-1] if found else ""


def prepare() -> None:
    """Compile every pattern, for moments when a model is awaited."""
    for held in (*globals().values(), *FURNISHED.values()):
        if isinstance(held, Pattern):
            held.compile()
