import sys, os; sys.path.insert(0,'/work/main')
import pytest, collections
from tests.game.test_long_game import play
from rolecall.campaign.folder import open_campaign
from rolecall.search.searcher import Search
from rolecall.turn import preview
from rolecall.turn.lifecycle import Game
def test_x(campaign, loopback):
    for a,b in ((1,101),(101,301)):
        play(campaign, loopback.environ("openai"), [f"I go on, {n}." for n in range(a,b)])
        c=open_campaign(campaign); s=Search(c); s.refresh()
        g=Game(campaign, models=["scripted:/dev/null"], environ={})
        for act in (f"I go on, {b}.",):
            said=preview.of(g,c,s,act)["layers"][0]
            by=collections.Counter(); n=collections.Counter()
            for p in said["passages"]:
                if p["kept"]: by[p["owner"],p["reason"]]+=p["tokens"]; n[p["owner"],p["reason"]]+=1
            print(act, said["tokens"]); 
            for k in by: print('   ',k,by[k],n[k])
    from tests.loopback import storyteller
    print([storyteller.line(n) for n in range(290,300)])
    print(c.document(c.chapters if False else 'story/'+sorted(os.listdir(campaign/'story'))[-1]).body.decode()[-1500:])
