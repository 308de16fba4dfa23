"""Fifty turns of an adventure, as data: what the player does, and what every layer says in each of them.

A market, a road, a fight with wolves, an abbey, a betrayal, a hunt, a death, the way home. Every tool a layer may call is
called at least once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Turn:
    """One turn. `looks`: rounds of the narrator's tools before it tells the scene; `does`: its tools with the prose.

    `plans`: rounds of the DM's tools; `directive` and `immersion` what it decides (`in_words`: as plain JSON, not by its tool).
    `intends`: what the TurnDM adds, fulfils or withdraws. `keeps`: the scribe's tools.
    """

    action: str
    prose: str
    line: str
    looks: tuple[tuple[Call, ...], ...] = ()
    does: tuple[Call, ...] = ()
    plans: tuple[tuple[Call, ...], ...] = ()
    directive: str = "Let the cold be felt."
    immersion: dict[str, Any] = field(default_factory=dict)
    in_words: bool = False
    intends: dict[str, list[str]] = field(default_factory=dict)
    keeps: tuple[Call, ...] = ()


def do(tool: str, /, **given: Any) -> Call:
    """A call; a trailing underscore frees a keyword: `from_`."""
    return tool, {key.rstrip("_"): value for key, value in given.items()}


SEED = "Sister Maud's cracked handbell hums when somebody lies; Bram's hand makes it hum"
MULE = "the mule with one ear belongs to the toll lord's spy"
WOLVES = "Encounter: hungry beasts on the ridge, when night falls"
THEFT = "Encounter: somebody at the reliquary door, when the fair is near"
ILKA, BRAM, MAUD, VARN, NAN = "Ilka Thorn", "Bram Oster", "Sister Maud", "Osk Varn", "Nan Pell"
FORD, PASS, ABBEY, CRYPT, KEEP = "Hallow Ford", "The High Pass", "Winter Abbey", "The Crypt", "Varn's Keep"
BELL, MISSING, DISPUTE, BELFRY = "A Bell for the Abbey", "The Lost Mule", "Who holds the pass", "The Empty Belfry"
TRAIL = "The Carter's Trail"
KEY = "The Bell Key"

TURNS: tuple[Turn, ...] = (
    # -- Hallow Ford: 17 Reaping 311
    Turn(
        "I look around the market.", "Hallow Ford smells of wet wool.", "Ilka looked over the market at Hallow Ford.",
        looks=((do("search", query="abbey belfry"), do("read", name="Maud"), do("list_resources"),
                do("list_inventory", who=ILKA), do("list_arcs"), do("list_conditions")),),
        plans=((do("list_seeds"), do("agendas"), do("offscreen"), do("who_knows", what="toll lord"), do("list_intentions")),
               (do("plant_seed", text=SEED), do("plant_seed", text=MULE),
                do("set_agenda", who=BRAM, wants="to be rid of his debts", next="hear what the toll lord pays"),
                do("let_know", who=BRAM, what="Osk Varn pays sixty crowns for a certain relic"),
                do("note_plan", text="The false friend shows himself before the year turns."),
                do("open_arc", name=BELFRY, question="Why does the abbey have no bell?", stakes="its old rights",
                   truth="The abbess had it melted down for ransom", text="Nobody at the Ford remembers it ringing."))),
    ),
    Turn(
        "I buy what we need for the road.", "Nan Pell's shop is a cellar full of rope.",
        "Ilka bought rope and torches at Nan Pell's, sold one, and carried salt for her.",
        looks=((do("open_tools", family="trade"),),
               (do("buy", who=ILKA, item="rope", price=4, coin="silver"),
                do("buy", who=ILKA, item="torch", price=3, coin="silver", count=3),
                do("sell", who=ILKA, item="torch", price=1, coin="silver"),
                do("pay", coin="silver", amount=2, to=NAN, for_="news of the pass"),
                do("earn", coin="silver", amount=5, from_=NAN, for_="carrying salt"),
                do("change_affinity", who=NAN, change=1), do("advance_time", hours=2))),
        keeps=(do("record_location", name="Nan Pell's Shop", type="shop", within=FORD, owner=NAN),),
    ),
    Turn(
        "I ask what work there is.", "A grey notice asks for a bell to be brought back to life.",
        "Ilka took on the bell for the abbey, and promised Nan salt and Bram half.",
        looks=((do("start_quest", name=BELL, question="Will the abbey's bell ring before the year turns?",
                   stakes="the abbey's right to the pass", stage="asked for",
                   objectives=["Find the healer", "Carry the key over the pass"]),
                do("add_promise", to=NAN, text="bring back winter salt"), do("add_promise", to=BRAM, text="half of the reward"),
                do("upcoming")),),
        plans=((do("open_tools", family="events"),),
               (do("schedule_event", event="The Winter Fair", date="8 Rime 311", text="Stalls in the abbey yard."),
                do("schedule_event", event="The Closing of the Road", date="12 Rime 311", hidden=True))),
    ),
    Turn(
        "I speak with the healer.", "Maud weighs the key in her palm and lets it go.",
        "Sister Maud gave Ilka the Bell Key and joined them.",
        looks=((do("complete_objective", quest=BELL, objective="Find the healer"),
                do("add_objective", quest=BELL, objective="Hang the bell in the belfry"),
                do("join_party", who=MAUD, note="a healer"), do("transfer_item", from_=MAUD, to=ILKA, item=KEY),
                do("give_item", who=ILKA, item="oak shield"), do("equip", who=ILKA, item="oak shield", where="arm"),
                do("set_relationship", who=MAUD, with_=ILKA, nature="guide", status="hopeful", affinity=1),
                do("add_promise", to=MAUD, text="bring the key to the abbey"), do("change_affinity", who=MAUD, change=1)),
               (do("list_quests"),)),
        immersion={"relationships": [{"who": BRAM, "with": ILKA, "change": -1}]},
    ),
    Turn(
        "I play cards with the carters.", "The cards are greasy and the fire is low.", "Ilka played cards with the carters.",
        looks=((do("check", what="Bluff", difficulty=12, bonus=2), do("roll", dice="2d6+1", what="the pot"),
                do("opposed_roll", who="Ilka", against="Bram", bonus=3, their_bonus=1),
                do("choose", options=["red", "black", "white"], what="the last card")),),
        plans=((do("roll", dice="d20"),),), in_words=True, intends={"add": [WOLVES]},
    ),
    Turn(
        "We set out over the old road.", "Three days of stones, and then the first snow.",
        "They walked three days to the High Pass.",
        looks=((do("places_near"), do("what_day", date="8 Rime 311")),
               (do("travel", to=PASS), do("spend", name="rations", amount=3), do("set_weather", weather="first snow"),
                do("connect", from_=PASS, to=ABBEY, way="the goat stair", days=2))),
    ),
    # -- the High Pass: 20 Reaping 311
    Turn(
        "We wait out the storm.", "The snow comes sideways all day.", "They sat out a storm; Bram went snow-blind.",
        looks=((do("advance_time", days=1), do("spend", name="rations", amount=1),
                do("add_condition", who=ILKA, condition="chilled", until="3 Rime 311"),
                do("add_condition", who=BRAM, condition="snow-blind", turns=2),
                do("extend_condition", who=BRAM, condition="snow-blind", turns=2)), (do("list_conditions"),)),
    ),
    Turn(
        "I draw my sword.", "Two shapes come out of the white.", "Wolves fell upon them at the High Pass.",
        looks=((do("start_combat", combatants=[
                    {"name": ILKA, "initiative": 15}, {"name": "Grey Wolf", "initiative": 13, "hit_points": "7/7"},
                    {"name": BRAM, "initiative": 12}, {"name": MAUD, "initiative": 9},
                    {"name": "Old Wolf", "initiative": 6, "hit_points": "9"}]),
                do("damage", who=ILKA, amount=3, by="Grey Wolf"),
                do("add_condition", who="Grey Wolf", condition="limping", rounds=2)), (do("combat_order"),)),
        intends={"fulfil": [WOLVES]},
    ),
    Turn(
        "I strike at the grey one.", "The grey one yelps and comes again.", "Ilka cut the grey wolf; the old one bit Bram.",
        looks=((do("damage", who="Grey Wolf", amount=5, by=ILKA), do("next_in_order"), do("next_in_order"),
                do("damage", who="Bram", amount=4, by="Old Wolf"),
                do("join_combat", name="Young Wolf", initiative=10, hit_points="4/4")),),
    ),
    Turn(
        "I finish it.", "The grey one lies down in the snow.", "The grey wolf fell and the young one fled.",
        looks=((do("set_initiative", name="Old Wolf", initiative=14), do("damage", who="Grey Wolf", amount=3, by=ILKA),
                do("leave_combat", name="Young Wolf", why="fled into the trees"), do("heal", who=BRAM, amount=2, by=MAUD),
                do("set_hit_points", who="Old Wolf", to=1), do("next_in_order"), do("next_in_order")),),
    ),
    Turn(
        "I put the old one down.", "The old wolf does not get up; the grey wolves hunt here no more.", "The pack was beaten.",
        looks=((do("damage", who="Old Wolf", amount=4, by=ILKA), do("end_combat", outcome="The pack is gone."),
                do("take_item", who=ILKA, item="torch")),),
        keeps=(do("record_creature", name="The Grey Wolves", type="wolf pack", habitat=PASS),),
    ),
    Turn(
        "We rest.", "They sleep in turns beside a torch.", "They rested a day and saw to the wounds.",
        looks=((do("look_back", turn="T0008"),),
               (do("advance_time", days=1), do("spend", name="rations", amount=1), do("heal", who=ILKA, amount=2, by=MAUD))),
        plans=((do("water_seed", seed="cracked handbell"), do("close_chapter", next="Snow on the Stair")),),
    ),
    Turn(
        "We climb down to the abbey.", "A door opens in a white wall.", "They came to Winter Abbey with nothing left to eat.",
        looks=((do("travel", to=ABBEY), do("spend", name="rations", amount=1),
                do("complete_objective", quest=BELL, objective="Carry the key over the pass"),
                do("advance_quest", quest=BELL, stage="at the abbey")),),
        immersion={"calendar": {"weather": "hard frost"}, "relationships": [{"who": BRAM, "with": ILKA, "change": -2}]},
    ),
    # -- Winter Abbey: 4 Rime 311
    Turn(
        "I bring the key to the abbess.", "The abbess fills their bags and their lamps.", "The abbess fed them.",
        looks=((do("gain", name="rations", amount=8), do("set_resource", name="lamp oil", amount=2, bound=3),
                do("keep_promise", text="bring the key to the abbey"), do("change_affinity", who=MAUD, change=2)),),
        plans=((do("open_tools", family="chapters"),), (do("name_chapter", name="The House Without a Bell"),)),
    ),
    Turn(
        "I look at our cell.", "Abbess Runa of the Order of the Bell gives them the north cell.",
        "Abbess Runa gave them the north cell.",
        looks=((do("unequip", who=ILKA, item="oak shield"), do("relationships", who=BRAM),
                do("append_history", entry=ABBEY, text="Took in three travellers in the snow.")),),
        does=(do("set_scene", scene="A cell in the abbey"),),
        keeps=(do("record_character", name="Abbess Runa", role="abbess", location=ABBEY),
               do("record_organization", name="The Order of the Bell", type="order", leader="Abbess Runa")),
    ),
    Turn(
        "I listen at the wall.", "Somewhere a horse is led out at night.", "Ilka heard a horse leave at night.",
        plans=((do("act_offscreen", who=BRAM, did="sends a rider down the frozen river", date="4 Rime 311"),
                do("advance_agenda", who=BRAM, did="has named his price", next="lay hands on the relic"),
                do("let_know", who=VARN, what="the travellers carry what he seeks"),
                do("stage_encounter", text=THEFT.removeprefix("Encounter: ").partition(", when ")[0], when="the fair is near"),
                do("add_event", text="an avalanche below the goat stair"),
                do("raise_stakes", arc=DISPUTE, stakes="the price of salt and the abbey's roof")),
               (do("agendas", who=BRAM), do("offscreen", who=BRAM), do("who_knows", what="travellers"), do("list_intentions"))),
        immersion={"relationships": [{"who": BRAM, "with": ILKA, "change": 1}]},
    ),
    Turn(
        "We go down the stair.", "Cold comes up from below.", "They went down into the crypt by lamplight.",
        looks=((do("connect", from_=ABBEY, to=CRYPT, way="a worn stair"), do("discover", place=CRYPT),
                do("move_party", to=CRYPT), do("advance_time", hours=9, minutes=30), do("spend", name="lamp oil", amount=1),
                do("move_arc", arc=DISPUTE, text="The abbess says that the toll lord forged his deed.")),),
    ),
    Turn(
        "I search the crypt.", "There is the Abbey Bell's clapper, and Maud calls the gift True Ringing.",
        "Ilka found the clapper of the Abbey Bell; Bram stayed below.",
        looks=((do("move_party", to=ABBEY), do("move_character", who=BRAM, to=CRYPT)),),
        keeps=(do("record_item", name="The Abbey Bell", type="bell", location=CRYPT),
               do("record_power", name="True Ringing", cost="a day's voice", wielders=[MAUD])),
    ),
    Turn(
        "I ask about the fair.", "By the Law of Quiet nobody shouts; the Stair Folk tell of the First Winter.",
        "Ilka learned the Law of Quiet and that the fair is put off.",
        looks=((do("reschedule_event", event="The Winter Fair", date="10 Rime 311"),
                do("check", what="Manners", difficulty=10)),),
        keeps=(do("record_rule", name="The Law of Quiet", scope="the abbey"),
               do("record_culture", name="The Stair Folk", customs="they never shout"),
               do("record_lore", name="The First Winter", text="It lasted three years, they say.")),
    ),
    Turn(
        "I sleep.", "Bells that are not there keep her awake.", "Ilka slept badly and rose before the bell-less dawn.",
        looks=((do("set_date", date="Restday, 5 Rime 311", time="06:00"), do("spend", name="rations", amount=1)),),
    ),
    # -- 5 Rime 311
    Turn(
        "I look for the mule.", "The mule with one ear is gone from its stall.", "Ilka promised to look for a lost mule.",
        looks=((do("start_quest", name=MISSING, objectives=["Look behind the mill"]),
                do("schedule_event", event="Vespers of the Dead", date="6 Rime 311")),),
        keeps=(do("update_entry", entry="The Abbey Bell", field="status", value="without its clapper"),),
    ),
    Turn(
        "I ask Maud to bless us.", "Maud blesses them until her hands shake.", "Maud blessed the party and wore herself out.",
        looks=((do("cancel_event", event="Vespers of the Dead", why="the abbess is ill"),
                do("add_condition", who="party", condition="blessed", until="12 Rime 311"),
                do("add_condition", who=MAUD, condition="weary", turns=5)),),
    ),
    Turn(
        "We wait a day.", "A day of mending.", "They mended their gear for a day.",
        looks=((do("advance_time", days=1), do("spend", name="rations", amount=1),
                do("remove_condition", who=MAUD, condition="weary", why="a night's sleep")),),
    ),
    Turn(
        "I look up at the belfry.", "The belfry is open to the sky.", "Ilka looked into the empty belfry.",
        plans=((do("close_arc", arc=BELFRY, text="The abbess will not speak of it.", how="abandoned"),),),
    ),
    Turn(
        "I look behind the mill.", "Of the mule there is one ear.", "The mule was found eaten.",
        looks=((do("fail_quest", quest=MISSING, text="The mule was eaten."), do("advance_time", days=1),
                do("spend", name="rations", amount=1)),),
        plans=((do("reopen_arc", arc=BELFRY, text="A sexton has seen the bell's mould."),),),
    ),
    # -- the betrayal: 7 Rime 311
    Turn(
        "I turn around.", "Bram is behind her with a knife, and then he is gone, and so is the key.",
        "Bram stabbed Ilka and fled with the Bell Key.",
        looks=((do("transfer_item", from_=ILKA, to=BRAM, item=KEY), do("damage", who=ILKA, amount=5, by=BRAM),
                do("leave_party", who=BRAM, why="he took the key"),
                do("set_relationship", who=BRAM, with_=ILKA, nature="enemies", status="betrayed her", affinity=-5),
                do("set_relationship", who=ILKA, with_=BRAM, nature="hunts him", affinity=-4),
                do("change_affinity", who=BRAM, change=-12), do("set_status", who=BRAM, status="fled with the key"),
                do("break_promise", text="half of the reward", how="he took the key")),),
        plans=((do("advance_agenda", who=BRAM, did="has done what he was paid for", next="collect sixty crowns"),
                do("act_offscreen", who=BRAM, did="rides down the frozen river by night"),
                do("fulfil", intention=THEFT), do("let_know", who=MAUD, what="her handbell hummed all evening"),
                do("move_character", who=BRAM, to=KEEP)),),
    ),
    Turn(
        "I let Maud bind the wound.", "They will call it the Night of the Stolen Key.", "Maud bound Ilka's wound.",
        looks=((do("heal", who=ILKA, amount=9, by=MAUD), do("take_item", who=MAUD, item="bandage"),
                do("connect", from_=ABBEY, to=KEEP, way="the frozen river", days=4)),),
        plans=((do("drop_seed", seed=MULE, reason="the beast is dead"), do("withdraw", intention="avalanche", reason="no snow left"),
                do("list_seeds")),),
        keeps=(do("record_event", name="The Night of the Stolen Key", date="7 Rime 311", location=ABBEY, outcome="Bram fled"),),
    ),
    Turn(
        "We follow the river.", "Four days on the ice, under the toll lord's towers.", "They followed Bram four days to Varn's Keep.",
        looks=((do("travel", to=KEEP), do("spend", name="rations", amount=4)),),
    ),
    # -- Varn's Keep: 11 Rime 311
    Turn(
        "We watch the gate.", "Nobody goes in.", "They watched the gate for a day.",
        looks=((do("advance_time", days=1),),),
    ),
    Turn(
        "We watch another day.", "The Toll Army musters, forty spears.", "They counted forty spears of the Toll Army.",
        looks=((do("advance_time", days=1), do("gain", name="rations", amount=6)),),
        keeps=(do("record_threat", name="The Toll Army", type="army", agent=VARN, severity="growing"),),
    ),
    Turn(
        "I call him out.", "Osk Varn comes down himself.", "Ilka called Osk Varn out at his own gate.",
        looks=((do("start_combat", combatants=[{"name": VARN, "initiative": 18}, {"name": ILKA, "initiative": 14},
                                               {"name": BRAM, "initiative": 11}, {"name": MAUD, "initiative": 8}]),
                do("join_combat", name="Keep Guard", hit_points="5/5"), do("damage", who=ILKA, amount=4, by=VARN)),),
    ),
    Turn(
        "I press him.", "Maud goes down.", "Varn struck Maud down.",
        looks=((do("damage", who=VARN, amount=9, by=ILKA), do("damage", who=MAUD, amount=11, by=VARN)),),
        immersion={"combat": {"round": 2}},
    ),
    Turn(
        "I end it.", "Varn falls, and Bram runs without the key.", "Ilka killed Osk Varn and tore the key from Bram.",
        looks=((do("damage", who=VARN, amount=20, by=ILKA), do("set_status", who=VARN, status="dead"),
                do("transfer_item", from_=BRAM, to=ILKA, item=KEY), do("heal", who=MAUD, amount=3),
                do("leave_combat", name=BRAM, why="fled over the wall")),),
    ),
    Turn(
        "I take what is owed.", "The guard throws down his spear.", "The guard yielded, and they took back the toll.",
        looks=((do("end_combat", outcome="The guard throws down his spear."), do("earn", coin="silver", amount=30),
                do("give_item", who=MAUD, item="signet ring")), (do("heal", who=VARN, amount=5),)),
    ),
    Turn(
        "I look after Bram.", "Hoofprints, and then nothing.", "Bram got away; word of him goes round.",
        looks=((do("set_status", who=BRAM, status="hunted"),
                do("move_arc", arc=DISPUTE, text="The toll lord is dead and his deed is ash.")),),
    ),
    Turn(
        "We rest in his hall.", "They eat at his table.", "They rested in Varn's hall.",
        looks=((do("advance_time", days=1), do("spend", name="rations", amount=1), do("heal", who=ILKA, amount=9),
                do("heal", who=MAUD, amount=5)),),
        plans=((do("close_arc", arc=DISPUTE, text="The pass is the abbey's again."),),),
    ),
    Turn(
        "We go back up the river.", "The ice is breaking, and it is spring.", "They went back to the abbey as the ice broke.",
        looks=((do("travel", to=ABBEY), do("spend", name="rations", amount=4)),),
        immersion={"calendar": {"weather": "thaw"}},
    ),
    # -- Winter Abbey: 3 Sowing 312
    Turn(
        "We hang the bell.", "The bell rings over the snow.", "They hung the bell, and it rang; Maud stays at the abbey.",
        looks=((do("complete_objective", quest=BELL, objective="Hang the bell in the belfry"),
                do("finish_quest", quest=BELL, text="The bell rings over the snow."),
                do("transfer_item", from_=ILKA, to=MAUD, item=KEY),
                do("earn", coin="silver", amount=40, from_="Abbess Runa", for_="the bell"),
                do("buy", who=ILKA, item="sack of salt", price=6, coin="silver", count=2),
                do("leave_party", who=MAUD, why="she stays at the abbey")),),
    ),
    Turn(
        "I ask about the handbell.", "It hummed at him from the first day.", "Maud told Ilka why her handbell hummed at Bram.",
        plans=((do("pay_off_seed", seed="cracked handbell"), do("close_arc", arc=BELFRY, text="There is a bell in it again."),
                do("close_chapter", next="The Way Home")),),
    ),
    Turn(
        "I set out alone.", "The goat stair is wet.", "Ilka crossed the goat stair alone.",
        looks=((do("travel", to=PASS), do("spend", name="rations", amount=2)),),
    ),
    Turn(
        "I go down to the Ford.", "Smoke, wool, the river.", "Ilka came home to Hallow Ford.",
        looks=((do("travel", to=FORD), do("gain", name="rations", amount=4), do("spend", name="rations", amount=3)),),
    ),
    # -- Hallow Ford: 8 Sowing 312
    Turn(
        "I bring Nan her salt.", "Nan tastes it and laughs.", "Ilka brought Nan Pell the winter salt.",
        looks=((do("transfer_item", from_=ILKA, to=NAN, item="sack of salt", count=2),
                do("keep_promise", text="bring back winter salt"), do("change_affinity", who=NAN, change=2)),),
    ),
    Turn(
        "I pay my debts.", "The back room of the shop is a place of its own.", "Ilka paid Nan ten silver.",
        looks=((do("pay", coin="silver", amount=10, to=NAN), do("equip", who=ILKA, item="oak shield", where="arm")),),
        keeps=(do("split_entry", entry="Nan Pell's Shop", name="Nan's Back Room", kind="location", text="Where the salt is kept."),),
    ),
    Turn(
        "I tell the tale.", "Nobody speaks of the wolves any more; the Stair Folk, they say, are the First Winter's children.",
        "Ilka told the tale at the fire.",
        plans=((do("plant_seed", text="A child at the fire wears a carter's whistle"),),),
        keeps=(do("forget", entry="The Grey Wolves", reason="hunted down"),
               do("merge_entries", keep="The Stair Folk", other="The First Winter")),
    ),
    Turn(
        "I sleep in a bed.", "A night without wind.", "Ilka slept in a bed.",
        looks=((do("advance_time", hours=10),),),
    ),
    # -- the last five, which are taken back
    Turn(
        "I ask after Bram.", "The ferryman has seen a limping carter.", "Ilka took up Bram's trail.",
        looks=((do("start_quest", name=TRAIL, stage="cold", objectives=["Ask at the ferry"]), do("spend", name="silver", amount=5)),),
        plans=((do("set_agenda", who=BRAM, wants="to be forgotten"),),),
    ),
    Turn(
        "I go up again.", "The road is mud.", "Ilka went up to the pass again.",
        looks=((do("gain", name="rations", amount=6), do("travel", to=PASS), do("spend", name="rations", amount=3)),),
    ),
    Turn(
        "I climb.", "A stone comes loose.", "A falling stone bruised Ilka.",
        looks=((do("damage", who=ILKA, amount=2, by="a falling stone"), do("add_condition", who=ILKA, condition="bruised", turns=2)),),
        does=(do("add_promise", to="the ferryman", text="bring word of the carter"),),
    ),
    Turn(
        "I camp.", "The fire is small.", "Ilka camped on the ridge.",
        looks=((do("schedule_event", event="The Salt Fair", date="1 Reaping 312"),),),
        plans=((do("close_chapter", next="The Long Road"),),),
    ),
    Turn(
        "I follow the road all summer.", "Twenty days of dust.", "Ilka followed the road for a month.",
        looks=((do("advance_time", months=1), do("complete_objective", quest=TRAIL, objective="Ask at the ferry"),
                do("take_item", who=ILKA, item="torch", count=3)),),
        does=(do("set_scene", scene="The long road"),),
    ),
)  # fmt: skip
