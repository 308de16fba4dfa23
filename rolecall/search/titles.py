"""Words that stand beside a name without being it (articles, titles, links), and words that tell two names apart.

Short word lists of our own for the languages people write campaigns in. They need not be complete: where a
title is missing, a second entry is made that a person can merge. Spellings are as `readings.folded` leaves them:
case-folded, without accents.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache


def _plain(table: str) -> str:
    """A table as it is compared; the final sigma of Greek is a sigma."""
    return unicodedata.normalize("NFKC", table).casefold()


def _words(table: str) -> frozenset[str]:
    return frozenset(_plain(table).split())


ARTICLES = _words("""
    the a an le la les l un une der die das den dem ein eine el los las lo il gli i uno una o os as um uma de het een ο η το
    οι τα ha
""")  # fmt: skip

# Between a given name and what somebody is called: `Valen the Shadow`, `Albrecht der Graue`.
EPITHET = _words("the der die das le la el il o ο η")

# What introduces another name of the same person.
ALSO = ("aka", "a k a", "alias", "also known as", "known as", "called", "genannt", "dit", "dite", "detto", "detta",
        "llamado", "llamada", "apodado", "apodada", "по прозвищу", "он же", "она же", "zwany", "zwana")  # fmt: skip

# Between a thing and what it belongs to: `Temple of Ash`. What follows is what tells one from another.
LINKS = _words("""
    of to for from in on at by under over beside de du des d da do dos del della di von vom van zu zum zur im am
    из у на для του της των
""")  # fmt: skip

# One title a line: who bears it (m a man, f a woman, - either), then its spellings; several lines, several titles.
_TITLES = """
- captain capt cpt cap captn skipper capitaine capitan capitano capitao kapitan kapten kapitein капитан καπετανιος
  قبطان القبطان कप्तान
- commander cmdr commandant comandante kommandant komandor командир
- commodore
- admiral amiral almirante адмирал
- general gen generale генерал στρατηγος जनरल
- colonel col coronel oberst полковник
- major maj
- lieutenant lt leutnant teniente tenente лейтенант
- sergeant sgt serjeant sergent sargento feldwebel сержант
- corporal cpl
- private pvt
- marshal marschall marechal
- doctor dr doc docteur docteure doktor dottore dottoressa doctora доктор γιατρος الدكتور डॉक्टर
- professor prof professeur profesor profesora professore профессор
- inspector insp
- judge justice richter juge juez судья
- chancellor
- warden
- pilot
- bosun boatswain
- elder
- saint st ste sankt santa san santo sao святой святая αγιος αγια
m sir
f dame
m lord lords лорд
f lady ladies леди
m mister mr herr monsieur m senor sr don signor signore senhor dom meneer pan господин κυριος السيد श्री श्रीमान מר
  efendi bey
f mistress mrs ms miss missus madam maam frau fraulein madame mme mademoiselle mlle senora sra senorita dona signora
  signorina senhora mevrouw fru pani госпожа κυρια السيدة श्रीमती גברת hanim
m king konig roi rey re rei krol koning kung царь король βασιλιας الملك राजा
f queen konigin reine reina regina rainha krolowa koningin drottning царица королева βασιλισσα الملكة रानी
m prince prinz principe ksiaze князь принц πριγκιπας الامير राजकुमार
f princess prinzessin princesse princesa principessa ksiezna княгиня принцесса княжна πριγκιπισσα الاميرة राजकुमारी
m duke herzog duc duque duca герцог
f duchess herzogin duchesse duquesa duchessa герцогиня
m count earl graf comte conde conte граф
f countess grafin comtesse condesa contessa графиня
m baron barone барон
f baroness baronin baronne baronesa баронесса
m emperor kaiser empereur emperador imperatore император
f empress kaiserin imperatrice emperatriz императрица
m father fr pater vater pere padre отец πατερας
f mother mutter mere madre мать
m brother bro bruder frere hermano fratello frate брат
f sister schwester soeur hermana sorella сестра
m uncle onkel oncle tio zio дядя
f aunt auntie tante tia zia тетя
m grandfather grandpa дед
f grandmother grandma granny baba бабушка
m master meister maitre maestro мастер
m sheikh shaykh شيخ الشيخ
m pandit पंडित
- rabbi rav הרב
- guard guardsman guardswoman watchman watchwoman sentry sentinel wache
- cook chef foreman forewoman alderman councilman councilwoman
- smith blacksmith
- healer
- ferryman ferrywoman
- innkeeper barkeep
- apprentice
- priest priestess pastor vicar abbot abbess bishop archbishop cardinal deacon friar fray frere monk nun bard minstrel
  cleric
- wizard witch mage magus magister sorcerer sorceress warlock shaman druid oracle prophet seer
- squire knight ser page steward butler maid valet servant nurse midwife
- baker miller weaver fisher hunter ranger merchant trader peddler tailor cobbler tanner brewer butcher carpenter
  mason
- soldier scout ensign cadet recruit officer trooper bandit thief sheriff constable deputy detective agent bailiff
  reeve
- mayor burgomaster burgermeister alcalde magistrate senator governor minister ambassador envoy consul president
  director
- chief chieftain thane jarl khan sultan vizier emir shah margrave marquis marquess viscount archduke
f marquise marchioness viscountess
- librarian archivist curator scholar teacher tutor engineer mechanic medic surgeon navigator helmsman gunner mate
- widow orphan comrade citizen goody хозяин хозяйка старик старуха товарищ боцман атаман воевода боярин
- old blind mad poor honest good goodman goodwife
"""

# What a word that says somebody's work often ends on, `quartermaster` as well as one nobody thought of.
WORK = (
    "master",
    "mistress",
    "keeper",
    "mage",
    "wright",
    "monger",
    "smith",
    "herd",
    "warden",
    "meister",
    "meisterin",
    "marshal",
)
ABBREVIATED = {"st": "saint", "ste": "saint", "mt": "mount", "ft": "fort"}  # in the names of places, not at their end

# Titles written onto the name: before it (Thai), after it (Chinese, Japanese, Korean, Hindi).
_BEFORE = """
m นาย
f นางสาว นาง
- คุณ ท่าน
- กัปตัน
- หมอ
m เจ้าชาย
f เจ้าหญิง
"""
_AFTER = """
- さん 様 さま くん ちゃん 殿 卿 大人 씨 님 जी
- 先生 선생님 선생
- 船長 船长 선장 선장님
- 隊長 队长 대장
- 将軍 将军 將軍 장군
- 医生 醫生
m 国王 國王
m 王子 왕자
f 公主 공주
f 女王 王后
f 夫人 女士 小姐
"""

# Words of one block in different lines tell two names apart (an indented line goes on with the one above). How far each line goes is said below (`TELLING_ALONE`).
_CONTRASTS = """
north northern nord nordlich nordlicher norte septentrional polnoc северный северная северное северные север βορεια
  βορειος βορειο βορρας βορρα شمال شمالي شمالية الشمال الشمالي الشمالية उत्तर उत्तरी 北 북 เหนือ צפון צפוני
south southern sud sudlich sudlicher sur meridional poludnie южный южная южное южные юг νοτια νοτιος νοτιο νοτος
  νοτου جنوب جنوبي جنوبية الجنوب الجنوبي الجنوبية दक्षिण दक्षिणी 南 남 ใต้ דרום דרומי
east eastern ost ostlich est este oriental wschod восточный восточная восточное восточные восток ανατολικη
  ανατολικος شرق شرقي شرقية الشرق الشرقي الشرقية पूर्व पूर्वी 東 东 동 ตะวันออก מזרח
west western westlich ouest oeste occidental zachod западный западная западное западные запад δυτικη δυτικος غرب
  غربي غربية الغرب الغربي الغربية पश्चिम पश्चिमी 西 서 ตะวันตก מערב
northeast northeastern nordost
northwest northwestern nordwest
southeast southeastern sudost
southwest southwestern sudwest

elder senior sr aine старший старшая старшие alteste altere alterer 兄 姉 姐
younger young junior jr cadet cadette младший младшая jungere jungerer jungste little 弟 妹

inner inside innere innerer interior внутренний внутренняя 内 內
outer outside aussere ausserer exterior внешний внешняя 外

left links linke linker gauche izquierda izquierdo левый левая левое αριστερη बायाँ 左 ซ้าย
right rechts rechte rechter droite droit derecha derecho правый правая правое δεξια दायाँ 右 ขวา

front fore vorder vordere 前 หน้า
back rear hind hinter hintere 后 後 หลัง

upper high higher ober obere oberer haut haute alto alta верхний верхняя верхнее верхние πανω ऊपरी 上 상 บน
lower low nether unter untere unterer bas basse bajo baja нижний нижняя нижнее нижние κατω निचला 下 하 ล่าง
middle mittlere mittel central centre средний средняя 中 중

king kings prince princes lord lords duke count baron emperor father fathers brother brothers son sons husband uncle
  grandfather widower nephew groom konig vater bruder sohn roi pere frere fils rey padre hermano hijo король царь
  отец брат сын муж 王 父 子
queen queens princess princesses lady ladies duchess countess baroness empress mother mothers sister sisters
  daughter daughters wife aunt grandmother widow niece bride konigin mutter schwester tochter reine mere soeur fille
  reina madre hermana hija королева царица мать сестра дочь жена 母 娘

man men boy boys gentleman mann homme hombre мужчина 男
woman women girl girls gentlewoman frau femme mujer женщина 女

host hosts hosted master buyer give gives giving given
guest guests servant seller take takes taking taken

life living alive birth born leben vie vida жизнь 生
death dead dying died tod mort muerte смерть 死

friend friends ally allies victory won
enemy enemies foe foes defeat lost

black schwarz schwarze schwarzer schwarzes noir noire negro negra черный черная черное черные μαυρο μαυρη μαυρος
  اسود سوداء काला काली 黒 黑 ดำ
white weiss weisse weisser blanc blanche blanco blanca белый белая белое белые ασπρο ασπρη λευκο λευκη ابيض بيضاء
  सफेद 白 ขาว
red rot rote roter rouge rojo roja красный красная красное красные κοκκινο κοκκινη احمر حمراء लाल 赤 红 紅 แดง
blue blau blaue blauer bleu bleue azul синий синяя синее синие μπλε γαλαζιο ازرق زرقاء नीला नीली 青 蓝 藍
green grun grune gruner vert verte verde зеленый зеленая зеленое зеленые πρασινο اخضر خضراء हरा हरी 緑 绿 綠 เขียว
grey gray grau graue grauer graues gris grise серый серая серое серые γκρι 灰 เทา
yellow gelb gelbe jaune amarillo amarilla желтый желтая желтое желтые اصفر صفراء पीला 黄 黃 เหลือง
brown braun braune brun brune marron коричневый коричневая

old ancient alt alte alter altes vieux vieille viejo vieja старый старая старое старые παλια παλιος पुराना पुरानी 旧
  舊 古 老 구 เก่า
new neu neue neuer neues nouveau nouvelle nuevo nueva nova novo новый новая новое новые νεα νεος नया नयी 新 신 ใหม่

great greater big large gross grosse grosser grand grande большой большая большое большие बड़ा बड़ी 大 대 ใหญ่
little lesser small minor klein kleine kleiner petit petite pequeno pequena малый малая малое маленький маленькая
  छोटा छोटी 小 소 เล็ก

day daylight dawn morning tag jour dia день утренний
night dusk evening midnight nacht nuit noche ночь вечерний

sun sunlit sonne soleil sol солнце солнца 日
moon moonlit mond lune luna луна луны 月
star stars stern etoile estrella звезда звезды 星

spring springtime fruhling printemps primavera весна весенний 春
summer sommer ete verano летний лето 夏
autumn fall herbst automne otono осень осенний 秋
winter hiver invierno зима зимний 冬

fire flame flames feuer feu fuego огонь огня 火
water wasser eau agua вода воды 水
earth stone stones erde pierre piedra земля 土 石
air wind luft vent viento ветер 風 风
frost ice eis glace hielo лед 氷 冰

gold golden oro золотой золотая золотое χρυσο ذهبي सोना 金
silver silvern silbern silberne argent plata серебряный серебряная ασημενιο فضي चाँदी 銀 银
bronze copper brass kupfer cuivre cobre медный медная 銅 铜
iron steel eisen eisern eiserne fer hierro железный железная 鉄 铁

first beginning start
last final end

full whole
empty half
new crescent

from von из
to zu nach к

over above
under below beneath
"""

# Number words; an ordinal counts as its number. The word lists begin with one.
_NUMBERS = """
one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
eins zwei drei vier funf sechs sieben acht neun zehn - zwolf
erste zweite dritte vierte funfte sechste siebte achte neunte zehnte
erster zweiter dritter vierter funfter sechster siebter achter neunter zehnter
- deux trois quatre cinq six sept huit neuf dix onze douze
premier deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme dixieme
premiere seconde
uno - tres cuatro cinco seis siete ocho nueve diez
primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo
primera segunda tercera cuarta quinta sexta septima octava novena decima
primo secondo terzo quarto
prima seconda terza quarta
primeira - terceira
primeiro - terceiro
один два три четыре пять шесть семь восемь девять десять
первый второй третий четвертый пятый шестой седьмой восьмой девятый десятый
первая вторая третья четвертая пятая шестая седьмая восьмая девятая десятая
первое второе третье четвертое пятое шестое седьмое восьмое девятое десятое
πρωτος δευτερος τριτος τεταρτος
πρωτη δευτερη τριτη τεταρτη
पहला दूसरा तीसरा चौथा
पहली दूसरी तीसरी चौथी
الاول الثاني الثالث الرابع
الاولي الثانية الثالثة الرابعة
i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx
"""
_TENS = {
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
}
HAN_DIGITS = {digit: number for number, digit in enumerate("〇一二三四五六七八九十")}

# Words of four letters and more that say nothing by themselves, so that a text may well have them where another has not.
SMALL = _words("""
    where here there when which that this these those with from into onto only also whom whose whoever whatever each every some
    something someone somebody anyone nobody nothing none have been being were will would could should they them their while
    until since because though than then very such about after before over under near upon once
    avec dans pour cette cela elle elles leur leurs dont aussi sans sous vers depuis etre
    eine einer einem einen eines dieser diese dieses sich nicht auch nach beim uber unter seit wird sind wurde
    para como esta este esto desde hasta donde pero sobre
    который которая которое которые этот этой было были если только после через
""")

SETTLEMENTS = _words("town city village hamlet port stadt dorf ville village ciudad pueblo город село деревня")
HOUSES = _words("inn tavern pub alehouse taproom taverne auberge taberna wirtshaus gasthaus трактир таверна")
LAND = _words("""
    river hill hills lake wood woods forest mountain mountains harbour harbor bay sea coast marsh moor valley road bridge water
    field fields isle island cape pass ford gate crossing market
""")  # fmt: skip


@lru_cache(maxsize=1)
def titles() -> dict[str, tuple[str, str]]:
    """(title, bearer `m`, `f` or `-`) by each spelling of a title that is a word of its own."""
    return _table(_TITLES)


@lru_cache(maxsize=1)
def attached() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """The titles written onto the beginning and onto the end of a name, each by spelling, the longest first."""
    before, after = _table(_BEFORE), _table(_AFTER)
    return tuple({word: found[word] for word in sorted(found, key=len, reverse=True)} for found in (before, after))


def _table(lines: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for line in _plain(lines).replace("\n  ", " ").strip().splitlines():
        bearer, *spellings = line.split()
        for word in spellings:
            found.setdefault(word, (spellings[0], bearer))
    return found


@lru_cache(maxsize=1)
def contrasts() -> dict[str, tuple[tuple[int, int], ...]]:
    """By word, each contrast it is part of: (number of the contrast, number of its side)."""
    found: dict[str, list[tuple[int, int]]] = {}
    for group, sides in enumerate(_plain(_CONTRASTS).strip().split("\n\n")):
        for side, words in enumerate(sides.replace("\n  ", " ").splitlines()):
            for word in words.split():
                found.setdefault(word, []).append((group, side))
    return {word: tuple(places) for word, places in found.items()}


# The first contrasts also tell a name that has such a word from a name without; these and some more tell texts apart,
# the rest only names: a text speaks of day and night, of old and new, whatever it is about.
TELLING_ALONE, TELLING_TEXTS = 2, 12


@lru_cache(maxsize=1)
def numbers() -> dict[str, int]:
    """The number of each number word, ordinal and Roman numeral up to twenty."""
    found = dict(_TENS)
    for line in _plain(_NUMBERS).strip().splitlines():
        for number, word in enumerate(line.split(), 1):
            if word != "-":
                found.setdefault(word, number)
    return found
