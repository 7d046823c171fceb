"""Composes URLs of ordinary pages of well-known sites, and of pages that imitate them.

Phishing imitates these sites. A model that has only seen imitations would take the real sites for phishing. The list of domains was written
for guard. The URLs are used for training only, without the links of `test/fixtures/ordinary-links.txt`.
"""

from __future__ import annotations

import random
from pathlib import Path

from ..datasets import Row
from .domains import normalised

HELD_OUT = Path(__file__).parent.parent.parent / "test" / "fixtures" / "ordinary-links.txt"

DOMAINS = """
google.com youtube.com gmail.com youtu.be goo.gl google.de google.co.uk google.ru googleapis.com gstatic.com android.com chromium.org
microsoft.com microsoftonline.com office.com office365.com live.com outlook.com bing.com azure.com windows.net sharepoint.com skype.com xbox.com
msn.com visualstudio.com nuget.org apple.com icloud.com itunes.com me.com amazon.com amazon.de amazon.co.uk amazon.co.jp amazon.fr
amazonaws.com aws.com audible.com twitch.tv facebook.com fb.com messenger.com instagram.com whatsapp.com threads.net meta.com twitter.com
x.com t.co linkedin.com lnkd.in pinterest.com reddit.com redd.it tumblr.com tiktok.com snapchat.com telegram.org t.me discord.com discord.gg
slack.com zoom.us dropbox.com box.com notion.so trello.com atlassian.com atlassian.net asana.com figma.com canva.com adobe.com spotify.com
netflix.com hulu.com disneyplus.com imdb.com paypal.com stripe.com visa.com mastercard.com americanexpress.com chase.com wellsfargo.com
bankofamerica.com citi.com capitalone.com hsbc.com barclays.co.uk lloydsbank.com santander.com ing.com dkb.de sparkasse.de deutsche-bank.de
coinbase.com binance.com kraken.com blockchain.com metamask.io ebay.com ebay.de etsy.com walmart.com target.com bestbuy.com ikea.com
aliexpress.com alibaba.com taobao.com tmall.com jd.com baidu.com qq.com weibo.com zhihu.com bilibili.com yahoo.com yahoo.co.jp rakuten.co.jp
naver.com kakao.com line.me yandex.ru ya.ru mail.ru vk.com ok.ru ozon.ru avito.ru sberbank.ru gosuslugi.ru dhl.com dhl.de fedex.com ups.com
usps.com royalmail.com dpd.com hermes.com booking.com airbnb.com expedia.com tripadvisor.com uber.com lyft.com github.com github.io
githubusercontent.com gitlab.com bitbucket.org sourceforge.net stackoverflow.com stackexchange.com npmjs.com npmjs.org pypi.org python.org
pythonhosted.org readthedocs.io crates.io docs.rs rust-lang.org golang.org go.dev nodejs.org deno.com bun.sh php.net ruby-lang.org
rubygems.org java.com oracle.com openjdk.org kotlinlang.org swift.org docker.com docker.io kubernetes.io redis.io postgresql.org mysql.com
mongodb.com sqlite.org elastic.co grafana.com prometheus.io nginx.org apache.org debian.org ubuntu.com fedoraproject.org redhat.com suse.com
archlinux.org kernel.org gnu.org mozilla.org w3.org whatwg.org ietf.org rfc-editor.org iana.org icann.org unicode.org iso.org ieee.org acm.org
arxiv.org doi.org nature.com science.org springer.com elsevier.com wiley.com pubmed.gov nih.gov nist.gov nasa.gov cdc.gov irs.gov usa.gov
gov.uk europa.eu bund.de gouv.fr who.int un.org worldbank.org imf.org mit.edu stanford.edu harvard.edu ox.ac.uk cam.ac.uk ethz.ch
wikipedia.org wikimedia.org wikidata.org wiktionary.org archive.org bbc.com bbc.co.uk cnn.com nytimes.com theguardian.com reuters.com
apnews.com bloomberg.com ft.com wsj.com washingtonpost.com spiegel.de zeit.de faz.net tagesschau.de lemonde.fr lefigaro.fr elpais.com elmundo.es
corriere.it repubblica.it globo.com folha.uol.com.br nhk.or.jp asahi.com habr.com rbc.ru lenta.ru medium.com substack.com wordpress.com
blogger.com wix.com squarespace.com shopify.com cloudflare.com digitalocean.com heroku.com vercel.com netlify.com huggingface.co openai.com
chatgpt.com anthropic.com claude.ai mistral.ai deepseek.com kaggle.com coursera.org edx.org udemy.com khanacademy.org duolingo.com quora.com
bit.ly tinyurl.com ow.ly is.gd example.com example.org example.net weather.com accuweather.com steampowered.com steamcommunity.com roblox.com
epicgames.com nintendo.com playstation.com signal.org proton.me protonmail.com duckduckgo.com brave.com opera.com vivaldi.com virustotal.com
owasp.org mitre.org letsencrypt.org docusign.com salesforce.com hubspot.com mailchimp.com zendesk.com intercom.com sap.com ibm.com intel.com
amd.com nvidia.com samsung.com sony.com huawei.com xiaomi.com lenovo.com dell.com hp.com cisco.com vmware.com bmw.com mercedes-benz.com
appleid.apple.com id.apple.com support.apple.com login.live.com login.yahoo.com signin.ebay.com accounts.google.com myaccount.google.com
signin.aws.amazon.com id.atlassian.com accounts.firefox.com login.salesforce.com auth.openai.com okta.com auth0.com dropbox.com
volkswagen.de siemens.com bosch.com telekom.de vodafone.com orange.fr att.com verizon.com t-mobile.com swisscom.ch
""".split()

# Sites whose paths are random keys.
SHORTENERS = {"bit.ly", "tinyurl.com", "t.co", "goo.gl", "ow.ly", "is.gd", "youtu.be", "lnkd.in", "redd.it"}

SUBDOMAINS = [
    "",
    "",
    "",
    "www.",
    "docs.",
    "support.",
    "help.",
    "login.",
    "accounts.",
    "mail.",
    "api.",
    "developer.",
    "blog.",
    "drive.",
    "files.",
]
PATHS = """
/ / / /login /signin /sign-in /account /settings /home /about /contact /help /search?q=WORD /en/ /en-us/WORD /docs/ /docs/WORD /docs/WORD/WORD.html
/blog/WORD-WORD /news/WORD-WORD-NUMBER /products/WORD /WORD /WORD/WORD /user/WORD /@WORD /p/ID /status/NUMBER /watch?v=ID /document/d/ID/edit
/file/d/ID/view?usp=sharing /spreadsheets/d/ID/edit /WORD/index_en /u/0/ /mail/ /inbox /s/ID/WORD.pdf?dl=0 /ID /packages/WORD.tar.gz /WORD.zip
/download/WORD-NUMBER.tar.gz /WORD/WORD/issues/NUMBER /WORD/WORD/pull/NUMBER /releases/latest /privacy /terms /pricing /security /password/reset
/itm/NUMBER /dp/ID /track?id=NUMBER /category/WORD?page=2 /feed /rss.xml /wiki/WORD /questions/NUMBER/WORD-WORD /invite/WORD
""".split()
WORDS = """
guide intro start overview tutorial python rust settings team project news world sport music travel health science climate energy report
market review release update install config server client network cloud data model image video photo summer winter garden kitchen recipe
library public group event partner career student teacher lesson history art design paper letter energy storage billing invoice
""".split()
# Sites where false positives are most annoying.
WEIGHT = 3.0
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"


# Brands and the forms of URLs that imitate them. Every form is known from phishing warnings.
IMITATED = """
paypal.com apple.com amazon.com microsoft.com google.com facebook.com instagram.com whatsapp.com netflix.com linkedin.com dropbox.com
ebay.com chase.com wellsfargo.com bankofamerica.com hsbc.com santander.com sparkasse.de dhl.com fedex.com usps.com coinbase.com binance.com
metamask.io steamcommunity.com roblox.com office365.com outlook.com icloud.com adobe.com docusign.com telegram.org yahoo.com
""".split()
ASKING = "login signin verify secure account update confirm support billing unlock alert wallet refund security password".split()
SUFFIXES = "com net org info xyz top online site club tk ml ga cn ru".split()
IMITATIONS = """
http://SITE@HOST.SUFFIX/ASK http://www.SITE@HOST.SUFFIX/WORD/ASK.php http://SITE.ASK-ASK.SUFFIX/ASK.php http://SITE.HOST.SUFFIX/ASK
http://NAME-ASK.SUFFIX/ASK http://NAME-ASK-ASK.SUFFIX/ http://ASK-NAME.SUFFIX/ASK.html http://HOST.SUFFIX/WORD/NAME/ASK.php
http://free-NAME-WORD.SUFFIX/ASK http://ASK.NAME.HOST.SUFFIX/WORD http://www.SITE@HOST-WORD.SUFFIX/ASK http://HOST.SUFFIX/~WORD/SITE/ASK.htm
http://HOST.SUFFIX/~WORD/SITE/cgi-bin/ASK.php http://ASK.ASK.ASK.ASK.HOST.SUFFIX/ http://ASK.ASK.ASK.HOST.SUFFIX/ASK
http://update-PROGRAM.SUFFIX/install_PROGRAM.exe http://PROGRAM-update.SUFFIX/PROGRAM_setup.exe http://HOST.SUFFIX/setup/PROGRAM_keygen.exe
http://dl.HOST.SUFFIX/PROGRAM/crack_PROGRAM.exe http://HOST.SUFFIX/download/PROGRAM_crack.zip http://get-PROGRAM.SUFFIX/PROGRAM.exe
OPEN_REDIRECThttp://SITE.ASK-ASK.SUFFIX/ASK.php OPEN_REDIRECThttp://SITE.HOST-ASK.SUFFIX/webscr?cmd=ASK
OPEN_REDIRECThttps%3A%2F%2FNAME-ASK.SUFFIX%2FASK
""".split()
# Pages of well-known sites that lead to any address.
OPEN_REDIRECTS = """
https://www.google.com/url?q= https://www.google.com/url?sa=t&url= https://www.youtube.com/redirect?q= https://www.bing.com/ck/a?u=
https://l.facebook.com/l.php?u= https://www.linkedin.com/redir/redirect?url= https://t.me/iv?url=
""".split()
PROGRAMS = """
flash-player flashplayer adobe_flash java-update video-codec codec-pack media-player antivirus pc-cleaner driver-updater chrome-update
browser-update photoshop office-activator windows-activator game-cheats vpn-free
""".split()


def imitations(seed: int, each: int = 120) -> list[Row]:
    pick = random.Random(seed)
    links = Path(HELD_OUT.parent / "malicious-links.txt").read_text().splitlines()
    held = {normalised(line) for line in links}
    found = []
    for site in IMITATED:
        for _ in range(each):
            url = pick.choice(IMITATIONS)
            while "ASK" in url:
                url = url.replace("ASK", pick.choice(ASKING), 1)
            host = "".join(pick.sample(WORDS, pick.choice([1, 2, 2])))
            program = pick.choice(PROGRAMS)
            for part, text in (
                ("OPEN_REDIRECT", pick.choice(OPEN_REDIRECTS)),
                ("PROGRAM", program),
                ("SITE", site),
                ("NAME", site.split(".")[0]),
                ("HOST", host),
                ("SUFFIX", pick.choice(SUFFIXES)),
                ("WORD", pick.choice(WORDS)),
            ):
                url = url.replace(part, text)
            if normalised(url) not in held:
                found.append(Row(url, 1, "imitations", split="train"))
    return found


def rows(seed: int, each: int = 24) -> list[Row]:
    pick = random.Random(seed)
    held = {normalised(line) for line in HELD_OUT.read_text().splitlines()}
    found = []
    for domain in DOMAINS:
        for count in range(each):
            path = "/" if count == 0 else "/ID" if domain in SHORTENERS else pick.choice(PATHS)
            while "WORD" in path:
                path = path.replace("WORD", pick.choice(WORDS), 1)
            path = path.replace("NUMBER", str(pick.randint(1, 10 ** pick.randint(2, 9))))
            path = path.replace("ID", "".join(pick.choices(LETTERS, k=pick.choice([6, 7, 8, 11, 20, 33]))))
            url = f"https://{pick.choice(SUBDOMAINS) if count and domain not in SHORTENERS else ''}{domain}{path}"
            if normalised(url) not in held:
                found.append(Row(url, 0, "known_sites", WEIGHT, split="train"))
    return found
