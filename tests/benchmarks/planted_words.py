"""The words of the planted-facts campaign: its people and places, what can be true of them, and how it is asked for.

Everything here was written for the benchmark. Of a fact's telling and its asking no more may be the same than the person's
name or part of it (or nothing, when an alias is used), the noun, and in the questions without a name also the adjective.
`planted_world.py` checks that by machine for every question it makes.
"""

from __future__ import annotations

# name as in the entry | as the prose mostly says it | as the player remembers it | alias | role | home | tied to | about
# Some share a first name, some a surname, and no entry lists the short forms among its aliases.
PEOPLE = """
Kit Harrow | Kit | Harrow | the Surveyor | the player's own | The Tin Kettle | Wenna Colley | Came with a chain and a level to measure a coast that moves.
Ysolde Varr | Ysolde | Varr | the Heron | captain of the harbour watch | Watch House | Jory Pell | Tall, patient, and never seen to run.
Osric Thane | Osric | Thane | Brother Candle | keeper of the chapel | Chapel of Nets | Maud Thane | Counts his candles every night and finds one short.
Maud Thane | Maud | Maud Thane | Sister Salt | herb woman | The Drying Lofts | Osric Thane | Knows what grows on a wall and what it is good for.
Della Finch | Della | Finch | the Tally-wife | money lender | Exchange Row | Orrin Finch | Lends at one in eight and smiles at none.
Orrin Finch | Orrin | Orrin Finch | Old Copper | tinker | Exchange Row | Della Finch | Mends pots for people who will not borrow from his sister.
Tobin Marsh | Tobin Marsh | Marsh | the Ferryman | ferryman | Reed Landing | Senna Brook | Has crossed the water nine thousand times and kept count.
Tobin Crake | Tobin Crake | Crake | Bonesaw | surgeon | Lamp Street | Ansel Roe | Quick with a blade and slow with a bill.
Wenna Colley | Wenna | Colley | the Landlady | innkeeper | The Tin Kettle | Kit Harrow | Keeps the loft for guests who pay and the stable for those who sing.
Jory Pell | Jory | Pell | the Splinter | watchman | Watch House | Ysolde Varr | Young, thin and always in the way.
Ansel Roe | Ansel | Roe | the Clerk | clerk of the exchange | Exchange Row | Tobin Crake | Writes a hand so small that nobody can contradict it.
Senna Brook | Senna | Brook | Quickwater | smuggler | Reed Landing | Tobin Marsh | Laughs first and looks for the door second.
Hale Wexford | Hale | Wexford | the Anvil | smith | Cinder Yard | Pia Wexford | Broad, deaf on one side, gentle with horses.
Pia Wexford | Pia | Pia Wexford | Little Spark | smith's daughter | Cinder Yard | Hale Wexford | Better than her father and not yet told so.
Ludo Starn | Ludo | Starn | the Fiddler | musician | The Tin Kettle | Wenna Colley | Plays for supper, and for a second supper.
Greta Moll | Greta | Moll | Grandmother Eel | fishwife | Eel Market | Ned Moll | Has opinions on every pot in town.
Ned Moll | Ned | Ned Moll | the Gull | boatwright | The Slips | Greta Moll | Builds boats that float and sheds that do not.
Ivo Lasker | Ivo | Lasker | the Stranger | traveller | The Tin Kettle | Senna Brook | Says he is a wool buyer and has never touched a fleece.
Rosamund Keel | Rosamund | Keel | the Widow | ship owner | Keel House | Ansel Roe | Owns four hulls and half of a fifth.
Bram Otley | Bram | Otley | the Miller | miller | Otley Mill | Cecily Otley | Heavy thumb, light conscience.
Cecily Otley | Cecily | Cecily Otley | Flour-hand | miller's wife | Otley Mill | Bram Otley | Does the sums and lets him think he did.
Piet Hanno | Piet | Hanno | the Diver | salvage man | The Slips | Rosamund Keel | Goes down with a stone and comes up with a story.
Ottoline Grey | Ottoline | Grey | the Magistrate | magistrate | Court Hill | Ysolde Varr | Hears both sides, and lunch.
Fenn Aldous | Fenn | Aldous | Moth | lamplighter | Lamp Street | Tobin Crake | Small, soft-footed, out in every weather.
Quill Barrow | Quill | Barrow | the Carter | carter | Cinder Yard | Bram Otley | Knows each rut between here and the hills by name.
Isaura Dane | Isaura | Dane | the Cartographer | map maker | Court Hill | Kit Harrow | Draws what is there and sells what is not.
"""

# name | kind | aliases | tied to | about
PLACES = """
The Tin Kettle | location | the Kettle | Wenna Colley | A low inn with a warm room and a cold stair.
Watch House | location | the Watch | Ysolde Varr | A square tower that leans toward the water it guards.
Chapel of Nets | location | the Chapel | Osric Thane | Old nets hang from its beams, one for each drowned crew.
The Drying Lofts | location | the Lofts | Maud Thane | Six floors of herbs and fish, according to the season.
Exchange Row | location | the Row | Della Finch | Where money is counted in public and lent in private.
Reed Landing | location | the Landing | Tobin Marsh | A jetty on the brown side of the water.
Lamp Street | location | the Street of Lamps | Fenn Aldous | Narrow, bright, and the first to flood.
Cinder Yard | location | the Yard | Hale Wexford | Three forges around one pump.
Eel Market | location | the Market | Greta Moll | Loud before dawn, empty by eight.
The Slips | location | the Ways | Ned Moll | Ribs of half a dozen hulls, and planks enough for two.
Keel House | location | the Widow's house | Rosamund Keel | Shutters the colour of dried blood and always a light upstairs.
Otley Mill | location | the Mill | Bram Otley | The wheel turns even when there is nothing to grind.
Court Hill | location | the Hill | Ottoline Grey | Steps, columns, and a view of everyone's washing.
Gull Rock | location | the Rock | Piet Hanno | Bare stone that the tide hides twice a day.
The Harbour Watch | organization | the Greycoats | Ysolde Varr | Twelve men and women with one good boat.
The Exchange | organization | the Counting House | Della Finch | Decides what a mark is worth this week.
Boatwrights' Hall | organization | the Adze | Ned Moll | A guild of nine who agree on nothing but fees.
Order of the Nets | organization | the Netmenders | Osric Thane | Prays for those at sea and buries what comes back.
Night Carriers | organization | the Soft Boots | Senna Brook | Nobody has ever met one, and everyone has bought from one.
The Court | organization | the Bench | Ottoline Grey | Sits on alternate days and sleeps on the rest.
The Brass Level | item | Kit's level | Kit Harrow | Made in a better town by a better hand.
The Tide Book | item | the Book of Tides | Ysolde Varr | Every high water for sixty years, with remarks.
The Net of Hallam | item | Hallam's net | Osric Thane | The one net in the chapel that was never found empty.
The Adze of Office | item | the Master's adze | Ned Moll | Blunt, gilded and jealously kept.
The Second Seal | item | the Copy | Ansel Roe | A seal that should not exist beside the first.
Sea Foxes | creature | the red swimmers | Piet Hanno | They come ashore in hard frost and take hens.
Bell Jellies | creature | the lanterns below | Piet Hanno | They glow when the weather is about to turn.
Low Water Law | rule | the Ebb Right | Ottoline Grey | What the ebb uncovers belongs to who stands on it.
Hearth Peace | rule | the Peace | Wenna Colley | No blade is drawn where a common fire burns.
Listening | power | the Deep Ear | Osric Thane | Some hear a drowned bell and know who will not come home.
The Wall People | culture | the Wallers | Maud Thane | They live in the town's old ramparts and marry among themselves.
The Great Ebb | event | the Long Low Water | Ysolde Varr | Eleven years ago the sea went out for three days.
The Silting | threat | the Slow Sand | Rosamund Keel | Each spring the channel is a hand shallower.
The Grey Fever | threat | the Quiet Illness | Tobin Crake | It begins with a taste of tin.
Why the coast moves | lore | the Old Question | Isaura Dane | Three learned answers, each of them paid for.
"""

# Each kind of fact: ten things it may be about (adjective and noun), what else differs, how it is told, its journal line,
# how it is asked for with a name and without. {who} and {other} as the prose says them, {asked} as the player does.
FACTS = {
    "debt": {
        "things": "lame mule, cracked mirror, striped awning, dented kettle, smoked hams, second anchor, walnut cradle, brown fiddle, spare rudder, velvet collar",
        "details": "forty marks, nineteen marks, a hundred and six marks, seven marks, thirty-three marks, eighty-two marks, twelve marks, fifty-one marks, sixty-four marks, twenty-eight marks",
        "told": ["{who} still owes {other} {detail} for the {thing}, and the whole table knows it.", '"{Detail}," says {other}. "That is what {who} never gave me for the {thing}."'],
        "line": ["{who} owes {other} {detail} for the {thing}.", "{other} has yet to see {detail} from {who}, for the {thing}."],
        "asked": ["Was {asked} ever square with anybody over the {noun}? I ask around.", "How much money must {asked} find on account of that {noun}?"],
        "nameless": ["I try to remember what was left unpaid for the {adj} {noun}.", "I bring up the bill for the {adj} {noun} and watch their faces."],
    },
    "hiding": {
        "things": "blue ledger, iron casket, torn chart, silver thimble, sealed jar, ivory comb, prayer beads, bent key, green lantern, horn cup",
        "details": "behind the third hearthstone, under the dovecote floor, inside the hollow newel post, beneath the cider press, in the flour bin with a false bottom, above the lintel of the wash-house, down the dry cistern, between the rafters of the net shed, in the straw of the last stall, under the loose step",
        "told": ["{who} wraps the {thing} in oilcloth and pushes it {detail} when nobody looks.", "You see {who} kneel and slide the {thing} {detail}, then smooth the dust over it."],
        "line": ["{who} put the {thing} {detail}.", "The {thing} lies {detail}; {who} saw to that."],
        "asked": ["I go to fetch the {noun} that {asked} stashed away. Where do I search?", "Into which corner did {asked} make that {noun} vanish? I begin searching."],
        "nameless": ["Where has the {adj} {noun} been stowed? I begin to search.", "I want the {adj} {noun} back from wherever it was tucked away."],
    },
    "password": {
        "things": "coal gate, eel door, weigh hatch, orchard stile, lower sluice, tanners' arch, rope bridge, crypt grille, sail loft, salt cellar",
        "details": "thirteen herons, no wind on Sunday, my aunt sends butter, ash before oak, count the drowned, a left-handed glove, sweet rain, the cook is innocent, two moons and a ladle, bread for Hallam",
        "told": ['"At the {thing} they want to hear \'{detail}\'," {who} whispers, "or they bar it in your face."', '{who} leans close: whoever comes to the {thing} must say "{detail}".'],
        "line": ['The word at the {thing} is "{detail}", as {who} told Kit.', '{who} gave Kit the word for the {thing}: "{detail}".'],
        "asked": ["I knock at the {noun} and give the countersign I had from {asked}.", "What was I supposed to answer at the {noun}, according to {asked}?"],
        "nameless": ["I stand at the {adj} {noun} and speak the countersign.", "They challenge me by the {adj} {noun}; I give the right answer."],
    },
    "scar": {
        "things": "boat hook, snapped cable, mad goose, hot poker, pruning saw, swinging boom, broken decanter, starved ferret, slipped chisel, cart spring",
        "details": "across the left palm, from ear to collar, over the right eyebrow, along the shin, round the wrist like a bracelet, down the small of the back, on the point of the chin, through the upper lip, between two knuckles, behind the knee",
        "told": ["A pale scar runs {detail}: {who} had it from a {thing}, years ago.", "When the sleeve and collar are off you see it, a scar {detail}; {who} blames a {thing}."],
        "line": ["{who} bears a scar {detail}, from a {thing}.", "Kit saw the scar {who} has {detail}; a {thing} did it."],
        "asked": ["I look {asked} over for the old wound that the {noun} caused.", "Which part of {asked} did the {noun} injure in those days?"],
        "nameless": ["Who was it that got hurt by a {adj} {noun}? I compare the wounds.", "I tell the tale of the wound and the {adj} {noun}, and notice any flinching."],
    },
    "nickname": {
        "things": "stolen pudding, upturned bucket, runaway sow, borrowed wig, frozen pump, burst bagpipe, painted rooster, missing ladder, wet gunpowder, wooden tooth",
        "details": "Lord Porridge, Bucketfoot, Sow-Catcher, Two-Hats, Icicle, Squeaker, Cockadoodle, Rungless, Fizzle, Woodpecker",
        "told": ["Along the quay they call {who} {detail}, ever since the day of the {thing}.", '"{detail}!" somebody shouts, and {who} goes scarlet; it is because of the {thing}.'],
        "line": ["On the quay {who} is called {detail}, after the {thing}.", "Kit learned that {who} is {detail} to everyone, because of the {thing}."],
        "asked": ["What do the dockers name {asked} behind the back, from the {noun} affair?", "I tease {asked} with the byname, that of the {noun}."],
        "nameless": ["Whose byname began with the {adj} {noun} affair? I ask the dockers.", "I use the byname that came of the {adj} {noun}."],
    },
    "rumour": {
        "things": "sunken bell, royal pearls, church candlesticks, condemned cargo, forged passport, plague blankets, orphan's portrait, poisoned well, spotted stallion, harbour plans",
        "details": "to a Lisk merchant by night, for a berth on the next ship, to pay off a brother, and buried the proceeds, and has dreamed of it since, to two buyers at once, for a single kiss, and was cheated, in exchange for silence, before the ink was dry",
        "told": ["The taproom has it that {who} sold the {thing} {detail}.", '"You did not hear it from me," says {other}, "but {who} sold the {thing} {detail}."'],
        "line": ["Rumour: {who} sold the {thing} {detail}.", "People whisper that {who} sold the {thing} {detail}."],
        "asked": ["Is the gossip concerning {asked} and the {noun} true? I want the details.", "I steer the conversation toward {asked} and what became of the {noun}."],
        "nameless": ["I repeat the gossip about the {adj} {noun} and wait for a reaction.", "Who is supposed to have got rid of the {adj} {noun}, and how?"],
    },
    "date": {
        "things": "salt barge, tax collector, spring auction, weavers' wedding, hill caravan, silver eclipse, guild election, bishop's coach, wool fleet, oyster feast",
        "details": "the ninth of Thaw, the eve of Saint Orla, the second new moon, the twentieth of Reaping, the last market before frost, the third of Gales, the morning after Lanterns, the fourteenth of Sowing, the first Sunday of Mists, the shortest day",
        "told": ['"The {thing}? On {detail}," says {who}, and cuts a notch in the doorpost.', "{who} has it on good authority that the {thing} will be here on {detail}."],
        "line": ["{who} expects the {thing} on {detail}.", "The {thing} is due on {detail}, {who} says."],
        "asked": ["How long until the {noun}, going by what I got from {asked}? I count on my fingers.", "When should I be ready for the {noun}? I think back to {asked}."],
        "nameless": ["I work out how long we have got until the {adj} {noun}.", "When was that {adj} {noun} again? I must be ready in time."],
    },
    "recipe": {
        "things": "black salve, drover's broth, sleeping draught, hull tar, fever tea, copper polish, wedding punch, ghost ink, ferret bait, winter mustard",
        "details": "yarrow, lard and soot; barley, marrow and nettle tops; poppy heads in warm cider; pine pitch with a fifth of tallow; willow bark, honey and one clove; sour milk and ground eggshell; rum, quince and burnt sugar; oak gall and vinegar; aniseed with rancid bacon; brown seed, beer and horseradish",
        "told": ["{who} shows you how the {thing} is made: {detail}, and never a lid on the pot.", "The {thing}, says {who}, is nothing but {detail}."],
        "line": ["{who} taught Kit the {thing}: {detail}.", "Kit knows now what is in the {thing}, from {who}: {detail}."],
        "asked": ["I set out all I need to mix the {noun} as {asked} does it.", "I try my hand at the {noun}, with the ingredients {asked} uses."],
        "nameless": ["Which ingredients go into the {adj} {noun}? I mix a batch.", "I mix a batch of the {adj} {noun} from memory."],
    },
    "promise": {
        "things": "wicker cage, astrolabe case, black umbrella, embroidered saddle, glass float, psalm book, ash walking-stick, barber's bowl, brass sextant, fur mittens",
        "details": "before the first snow, by the feast of Nets, within the week, ahead of the spring tide, while the old dog lives, before the banns are read, by the time the figs are ripe, before the court sits, ere the swallows leave, by next pay day",
        "told": ["You give {who} your hand on it: the {thing} will be back {detail}.", '"{Detail}," you swear to {who}, and you mean the {thing}.'],
        "line": ["Kit promised {who} the {thing} {detail}.", "Kit swore to bring {who} the {thing} {detail}."],
        "asked": ["Have I done what I said I would for {asked}, regarding the {noun}?", "What is my deadline with {asked} for that {noun}?"],
        "nameless": ["How long have I got to deliver the {adj} {noun}?", "I check whether I am late with the {adj} {noun}, and for whom."],
    },
    "kin": {
        "things": "christening spoon, disputed pew, faded tattoo, family crest, half coin, baptism roll, signet button, quilted coat, old locket, birthmark sketch",
        "details": "natural daughter's husband, half-brother, runaway ward, first wife's cousin, grandchild, twin parted at birth, foster mother, unlawful heir, uncle by the left hand, stepchild",
        "told": ["It comes out over the {thing}: {who} is the {detail} of {other}.", "One look at the {thing} and {other} turns grey, for {who} is the {detail}, no less."],
        "line": ["{who} turned out to be the {detail} of {other}; the {thing} proved it.", "The {thing} showed that {who} is the {detail} of {other}."],
        "asked": ["How are {asked} and the rest connected, as the {noun} made plain?", "I confront {asked} about blood ties, and lay the {noun} on the table."],
        "nameless": ["Who shares blood, going by that {adj} {noun}?", "I hold up the {adj} {noun} and speak of blood ties."],
    },
    "fear": {
        "things": "church organ, white moth, deep well, barking seal, windmill sail, crowing hen, butcher's apron, ticking clock, closed carriage, knotted rope",
        "details": "a sister, two fingers, a whole crew, the power of speech, a bride, every tooth on one side, the family farm, all courage, a best friend, seven years",
        "told": ["{who} will not stay in one place with a {thing}; something like it took {detail}.", 'You notice {who} shaking. "It was a {thing}," {other} explains. "It cost {who} {detail}."'],
        "line": ["{who} is terrified of any {thing}; it cost {detail}.", "A {thing} once took {detail} from {who}, who has dreaded it since."],
        "asked": ["I remember what frightens {asked}, and I keep the {noun} out of sight.", "Would {asked} panic if I came along with the {noun}?"],
        "nameless": ["Which of them would panic at the sight of a {adj} {noun}?", "I make use of a {adj} {noun} to frighten whoever cannot bear it."],
    },
    "signal": {
        "things": "night courier, customs cutter, hired blade, fish wagon, masked physician, excise men, pilgrim boat, relief column, powder sledge, ransom party",
        "details": "a red shawl at the dormer, three knocks and a cough, a goat on the roof, smoke from the cold chimney, two lamps set low, a fiddle tuned flat, washing hung upside down, a white stone on the well, shutters closed at noon, bread left on the sill",
        "told": ["{who} explains it: {detail} means that the {thing} is on the way.", '"Watch for {detail}," says {who}. "Then the {thing} is not an hour off."'],
        "line": ["{Detail} means the {thing}, {who} says.", "{who} agreed the sign for the {thing} with Kit: {detail}."],
        "asked": ["What did {asked} tell me to look out for ahead of the {noun}?", "I keep my eyes open for the token {asked} described for the {noun}."],
        "nameless": ["How shall I recognise that the {adj} {noun} is near?", "I keep my eyes open for the token of the {adj} {noun}."],
    },
    "price": {
        "things": "grey gelding, leaking yawl, corner stall, ruby earring, duelling pistols, herring licence, marble bust, pear orchard, parrot perch, oak sideboard",
        "details": "six ewes and a ram, nine marks down and a favour, the fiddle and a bow, three years of eggs, a seat on the bench, two barrels of the dark beer, a true name, half of next year's catch, one honest answer, a lock of hair",
        "told": ["For the {thing} {who} wants {detail}, and not a crumb less.", '{who} folds both arms. "{Detail}, and the {thing} is yours."'],
        "line": ["{who} wants {detail} for the {thing}.", "Kit may have the {thing} from {who} for {detail}."],
        "asked": ["What were the terms when I wished to buy the {noun} off {asked}?", "I come to {asked} with the payment agreed on and claim the {noun}."],
        "nameless": ["What would it cost me to buy the {adj} {noun}?", "I come with the payment and claim the {adj} {noun}."],
    },
    "keeper": {
        "things": "iron strongroom, tithe barn, bonded warehouse, bell tower, pantry cupboard, clock case, poor box, relic shrine, powder magazine, archive chest",
        "details": "on a bootlace under the shirt, baked into a loaf, sewn in the hem of a cloak, tied to the cat's collar, inside a hymnal, pinned beneath the wig, hung in the smoke of the chimney, in the heel of a shoe, round the ankle, frozen in a block of ice",
        "told": ["{who} keeps the only key of the {thing} {detail}.", 'The key of the {thing}? "{Detail}," {other} says. "Trust {who} for that."'],
        "line": ["{who} has the key of the {thing} {detail}.", "The key of the {thing} is with {who}, {detail}."],
        "asked": ["I mean to get into the {noun}. How do I relieve {asked} of what unlocks it?", "Where on {asked} would I find the means to open the {noun}?"],
        "nameless": ["I mean to get into the {adj} {noun}; who can unlock it?", "Somebody can open the {adj} {noun} for us. Who, and with what?"],
    },
    "grave": {
        "things": "crooked yew, boundary stone, mossy sundial, burned chapel, drained pond, apple terrace, signal mast, goat path, lightning elm, abandoned kiln",
        "details": "a first husband who choked on a plum, the twins lost to croup, a sailor never named, an uncle hanged in error, the favourite hound, a rival from the duel, the midwife taken by lightning, a stillborn son, the nurse who drank, a debtor found in the snow",
        "told": ["Beneath the {thing} lies {detail}; {who} goes there on the quiet, with flowers.", '"{Detail}," says {who}, and nods toward the {thing}. "I dug it myself."'],
        "line": ["{who} tends a grave by the {thing}: {detail}.", "By the {thing} {who} buried {detail}."],
        "asked": ["Whom does {asked} mourn, over by the {noun}?", "I join {asked} at the {noun} and speak a few words for the dead."],
        "nameless": ["Who is interred near the {adj} {noun}?", "I kneel by the {adj} {noun} and speak a few words for the dead."],
    },
}  # fmt: skip

# What was never looked at while retrieval was tuned; it is reported by itself.
HELD_OUT = ("nickname", "signal", "keeper", "grave", "kin")

# Sentences between: {a} and {b} are people of the scene, {noun} and {adj} come from the facts, {place} is where it is.
BETWEEN = """
Rain ticks on the slates of {place}, and {a} draws the bench nearer to the fire.
{a} tells a long story about a {noun}, and {b} has heard it before.
"It is not the {noun} that worries me," says {b}, "it is the weather."
Somebody has left a {noun} on the sill, and nobody will say who.
{b} counts something under the table and loses count twice.
The wind has gone round to the north, and all of {place} smells of kelp.
{a} and {b} disagree about the right way to carry a {noun}.
A dog comes in, thinks better of it, and goes out again.
{a} asks what you would do with a {adj} day and no errands.
You notice how {b} never looks at {a} when the talk turns to money.
There is bread, and something {adj} in a dish that {a} recommends and does not touch.
"Ask me tomorrow," says {a}, who has said so every day this week.
Two children run past with a {noun} and are called back by a voice from a window.
{b} has mended the hinge, and the door now closes on whoever is slow.
The light goes early. {a} trims the wick and says that oil has become dear.
A boat scrapes along the wall outside, and for a while they all listen.
{a} laughs at that until {b} begins to laugh as well.
"My mother had a {noun} like it," {b} says, and is silent for a time.
On the wall hangs a print of a {adj} ship that never sailed from here.
You write down what you have measured, and {a} reads it upside down.
{b} pours for everyone and forgets the last cup.
A cart goes by with a {noun} roped on top, and {a} shakes a head at the knots.
It seems that the bell rang late again; {a} blames the damp.
{a} would like to hear about the city, and {b} would rather not.
They speak of fish for an hour, and you learn the names of nine kinds.
The stairs creak, but it is only {b} with a {noun} under one arm.
"There is talk on {place} of a new toll," says {a}. "There always is."
Nobody has seen the sun since the morning, and {b} does not miss it.
{a} turns a coin over and over, and it comes up the same way each time.
You are told to mind the third step, the {adj} one, and you do not.
Outside somebody sings two lines of a song and cannot find the third.
{b} wants a {noun} by the end of the month and means to have it.
""".strip().splitlines()

# Close to a fact and not the fact: the same person and noun, or the same noun and someone else.
DISTRACTORS = """
You mention a {noun} to {who}, but the talk turns to the weather.
{who} has nothing to add on the subject of any {noun}, not today.
"A {noun}?" says {who}. "I have seen better."
{other} grumbles about a {noun} for as long as anyone will listen.
{other} has dreamed of a {noun} and wants to know what it means.
There was something {adj} about {who} this evening, and then it was gone.
{who} stands with {other} at the door and argues, you cannot hear about what.
""".strip().splitlines()

ACTIONS = """
I ask {a} how the day has been.
I show {a} my drawing of the coast.
I sit down and listen to {a} and {b}.
I go over to {place} and see who is about.
I help {b} with the {noun}.
I keep out of the quarrel and finish my soup.
I take the level outside and measure until it is dark.
I buy {a} a drink and ask about the tides.
I wait.
I say that I have seen a {noun} like that in the city.
I follow {b} at a distance.
I look around for a {adj} corner to sleep in.
""".strip().splitlines()

LINES = """
{a} and {b} spoke with Kit at {place} about nothing much.
Kit measured the shore by {place}; {a} held the chain.
{b} lost a bet over a {noun} and paid it.
Kit heard {a} complain about the weather and a {noun}.
A quiet hour at {place} with {a}.
{a} left {place} early, and {b} did not say why.
Kit drew the bank below {place} and showed it to {b}.
There was a small quarrel over a {noun} between {a} and {b}.
""".strip().splitlines()

# Said before some of the questions: a player seldom types the bare question.
PREAMBLES = """
I wait till the others have gone, draw a stool up and lower my voice.
I stamp the mud off my boots, hang up my coat and order something hot.
Before I go to sleep I turn everything over in my mind once more.
I put down my pencil. Something has been bothering me all day.
I push through the crowd, out of breath, with no time for courtesies.
I take a deep breath and stop pretending that I came for the soup.
""".strip().splitlines()
