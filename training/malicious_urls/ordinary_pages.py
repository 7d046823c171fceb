"""Composes URLs of ordinary pages: articles, shops, forums, sign-in and payment pages, downloads, tracking parameters, internal hosts.

The feeds of malicious URLs contain many paths and log-in words, and the front pages of ordinary sites contain none. Without these pages the
model would learn that a path or a log-in word is malicious. The hosts are real sites of the sets `sites`, `homepages` and `preload`. Used for
training only.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from ..datasets import Row
from .domains import normalised
from .well_known_sites import HELD_OUT, LETTERS, WORDS

# The forms of each kind of page.
PAGES = {
    "article": """/WORD/WORD-WORD-WORD /blog/YEAR/MONTH/WORD-WORD-WORD /YEAR/MONTH/DAY/WORD-WORD /news/NUMBER /news/WORD-WORD-NUMBER.html
        /article/NUMBER/WORD-WORD /LANG/WORD/WORD-WORD /WORD-WORD-WORD-WORD /stories/WORD/WORD-WORD/ /a/WORD-WORD-NUMBER /WORD/YEAR/WORD.html
        /archives/NUMBER /posts/WORD-WORD/#comments /magazine/YEAR/WORD_WORD.htm /p/NUMBER /tag/WORD /author/NAME-NAME /?p=NUMBER
        /archive/YEAR/MONTH/ /category/WORD/page/DAY/ /content/WORD-WORD /story/WORD/NUMBER/ /artikel/WORD-WORD,NUMBER.html""",
    "old": """/index.html /index.htm /~NAME/ /~NAME/WORD.html /WORD.php /WORD/WORD.html /index.php?page=WORD /WORD.php?id=NUMBER /main.asp
        /WORD/index.htm /people/NAME/WORD/WORD.htm /cgi-bin/WORD.cgi?WORD=WORD /WORD.aspx?id=NUMBER /WORD/WORD_WORD.asp /wiki/index.php/WORD
        /WORD/NUMBER.htm /home/NAME/WORD.pdf /pub/WORD/WORD.html /WORD.jsp?WORD=NUMBER /index.php?title=WORD_WORD /WORD/WORD/WORD/WORD.html
        /index.php?option=com_content&view=article&id=NUMBER /index.php?option=com_content&task=view&id=NUMBER&Itemid=DAY /default.aspx
        /ShowWORD.aspx?WORD=NUMBER /faculty/NAME.html /papers/WORDYEAR.pdf /bios/NAME_NAME.html /music/NAME_NAME.html /name/nmNUMBER/""",
    "shop": """/products/WORD-WORD /product/NUMBER /shop/WORD/WORD-WORD-NUMBER.html /cart /checkout /basket /collections/WORD?sort=price&page=DAY
        /p/WORD-WORD/NUMBER /item/NUMBER.html /catalog/WORD/?color=WORD&size=DAY /orders/NUMBER /order/confirm?id=NUMBER /gift-cards /de/WORD
        /checkout/payment?step=DAY /invoice/NUMBER.pdf /billing/update /offers/free-shipping /account/orders /wishlist/ID /returns/refund
        /WORD-WORD-p-NUMBER.html /search?q=WORD+WORD&category=WORD&page=DAY""",
    "sign-in": """/login /signin /sign-in /log-in /account/login /user/login /users/sign_in /auth/login /customer/account/login/ /wp-login.php
        /account/verify /verify-email?token=HEX /account/confirm?code=HEX /password/reset?token=HEX /forgot-password /account/security
        /login?redirect=%2FWORD%2FWORD /login.php /accounts/login/?next=/WORD/ /oauth/authorize?client_id=HEX&scope=WORD&state=ID
        /register /my-account/ /profile/settings /account/update /unsubscribe?u=HEX&id=HEX /secure/WORD /members/login.aspx /saml/sso
        /login/?lang=LANG /index.php?action=login /online/login /support/account /update-profile /help/verify-your-account
        /LANG/login /auth/realms/WORD/protocol/openid-connect/auth?client_id=WORD&response_type=code""",
    "forum": """/forum/viewtopic.php?f=DAY&t=NUMBER /showthread.php?t=NUMBER /threads/WORD-WORD.NUMBER/ /t/WORD-WORD/NUMBER /questions/NUMBER
        /forum/index.php?topic=NUMBER.0 /viewtopic.php?p=NUMBER#pNUMBER /community/WORD/WORD-WORD /d/NUMBER-WORD-WORD /u/NAME /profile/NAME
        /comments/ID/WORD_WORD_WORD/ /forumdisplay.php?f=DAY /board/WORD/NUMBER""",
    "download": """/downloads/WORD-DAY.DAY.NUMBER.tar.gz /download/WORD-DAY.DAY.zip /files/WORD.pdf /releases/WORD-DAY.DAY.exe /WORD/setup.exe
        /dl/WORD-DAY.DAY.dmg /wp-content/uploads/YEAR/MONTH/WORD-WORD.pdf /wp-content/uploads/YEAR/MONTH/WORD.jpg /WORD/WORD.msi /WORD.apk
        /static/WORD.HEX.js /assets/css/WORD.min.css?v=DAY.DAY /images/WORD.png /media/WORD/WORD.mp4 /documents/NUMBER/WORD.docx /WORD.iso
        /wp-content/themes/WORD/style.css /sites/default/files/WORD-WORD_DAY.pdf /cdn/WORD@DAY.DAY.DAY/dist/WORD.min.js /WORD.deb /WORD.jar""",
    "tracked": """/?utm_source=WORD&utm_medium=email&utm_campaign=WORD-YEAR /WORD?ref=WORD&fbclid=ID /WORD/WORD?gclid=ID&utm_source=WORD
        /click?id=HEX&url=https%3A%2F%2Fwww.example.com%2FWORD /c/HEX/ID /track?email=NAME%40example.com&m=NUMBER /l/ID /r/?u=HEX /WORD?sid=HEX
        /e/NUMBER/HEX /WORD/WORD?mc_cid=HEX&mc_eid=HEX /go?to=WORD&src=WORD /share?text=WORD%20WORD&via=NAME""",
    "service": """/api/vDAY/WORD?limit=NUMBER /api/WORD/NUMBER /docs/ /docs/WORD/WORD.html /LANG/docs/WORD#WORD /status /health /feed.xml
        /sitemap.xml /rss /graphql /vDAY/WORD/HEX /WORD.git /WORD/WORD/-/blob/main/WORD.md /WORD/WORD/issues/NUMBER /job/WORD/NUMBER/console
        /browse/WORD-NUMBER /display/WORD/WORD+WORD /rest/WORD?format=json /search?q=WORD /map?lat=DAY.NUMBER&lon=DAY.NUMBER&zoom=DAY /wiki/WORD_WORD""",
    "visit": """/about /about-us /contact /contact.html /impressum /datenschutz /kontakt /en/ /LANG/ /LANG/WORD /privacy-policy /terms /careers/NUMBER
        /events/YEAR/WORD-WORD /team/NAME-NAME /services/WORD /locations/WORD /faq /support /WORD /WORD/ /WORD-WORD /recipes/WORD-WORD /apply
        /book?date=YEAR-MONTH-DAY&guests=DAY /hotels/WORD-WORD /watch?v=ID /video/NUMBER /gallery/WORD /listing/NUMBER /free-trial /pricing
        /donate /invite/ID /s/ID /document/ID/edit /survey/ID /meeting/NUMBER?pwd=ID /courses/WORD/lectures/NUMBER /company/jobs""",
}
SUBDOMAINS = {
    "sign-in": "login accounts account my id auth sso secure portal mail webmail online signin banking user customer members identity".split(),
    "download": "cdn static files download assets media dl downloads ftp img mirror".split(),
    "tracked": "email links link go click clicks news newsletter track trk info mail t e r url".split(),
    "service": "api docs dev developer status git wiki jira jenkins ci support help data".split(),
    "visit": "en de fr m shop blog support help jobs events about learn app".split(),
    "forum": "forum community discuss forums support".split(),
    "article": "blog news m en magazine".split(),
    "shop": "shop store checkout pay payment payments secure m order orders billing".split(),
    "old": "web people math cs users home old".split(),
}
# Words for pages where people sign in, pay or change their data. Ordinary sites combine them as freely as phishing does.
ACCOUNT_WORDS = """
login signin sign-in logon log-in logout auth oauth oauth2 sso saml session sessions user users account accounts customer customers client
member members profile settings preferences security password passwords reset recover forgot forgotten verify verification validate activate
activation confirm confirmation email token code otp mfa two-factor register registration signup join create update edit change manage
dashboard portal home welcome continue secure identity consent support help my myaccount anmelden anmeldung konto kundenkonto passwort
registrieren connexion compte mon-compte inscription iniciar-sesion cuenta mi-cuenta registro entrar conta minha-conta accedi accesso
area-clienti inloggen mijn-account logowanie moje-konto konta giris hesabim prihlaseni ucet logga-in minside kirjaudu bejelentkezes
""".split()
PAYMENT_WORDS = """
pay payment payments billing bill invoice invoices order orders checkout cart basket bag purchase buy subscribe subscription subscriptions plan
plans upgrade renew refund refunds return returns shipping delivery address card cards credit-card bank transfer wallet balance topup donate
donation gift voucher coupon discount price pricing quote receipt receipts confirm success complete thank-you review summary status track
tracking kasse bezahlen rechnung bestellung warenkorb versand lieferung paiement panier commande facture livraison pago carrito pedido factura
envio pagamento carrello ordine fattura boleto pedido betaling winkelwagen bestelling zamowienie platnosc koszyk odeme sepet siparis
""".split()
ACCOUNT_ENDINGS = ["", "", "", "", "", "", "/", "/", ".html", ".php", ".aspx", ".jsp", ".do", ".xhtml", ".action"]
PARAMETERS = """
?next=/ACCOUNT ?redirect=%2FACCOUNT%2FWORD ?returnUrl=%2FWORD ?token=HEX ?code=HEX&state=ID ?id=NUMBER ?order=NUMBER ?lang=LANG ?email=NAME@example.com
?step=DAY ?utm_source=WORD&utm_medium=email ?session=HEX ?ref=WORD ?key=ID ?from=WORD&to=WORD ?service=WORD ?plan=WORD ?client_id=HEX ?locale=LANG
?utm_source=WORD&utm_campaign=WORD&utm_content=WORD ?fbclid=ID ?gclid=ID ?trk=WORD&mid=HEX ?e=HEX&m=HEX ?q=WORD ?_t=HEX&_s=NUMBER ?src=WORD&uid=NUMBER
""".split()
NAMES = """
anna smith john miller maria garcia thomas mueller laura rossi peter novak sofia silva james wilson emma dubois lukas weber olga ivanova kenji
tanaka wei chen priya sharma ahmed hassan nina jensen erik larsson tom brown sarah jones david martin elena popescu marek kowalski
""".split()
MORE_WORDS = """
actualites artikel angebote ausstellung bericht bestellung bilder buch cuenta deporte economia education entreprise family fotos frauen
garden gesundheit hilfe historia horaires hotel immobilien informacion jeux jobs kinder kino kontakt kultur leben lokales mediathek mode
musica noticias oferta opinion politica politik presse preise produkt produits programm recherche recettes reisen research ricette salute
schule servicios shop sociedad software sport spiele stadt termine theater turismo universitaet unternehmen verein viaggi video viajes wetter
wirtschaft wissenschaft zeitung baseball bicycle bridge cancer castle cheese church cinema coffee college comedy court dance death desert
diabetes dragon election engine evolution farming fiction finance fishing flowers football forest genealogy geography glass golf grammar
guitar harbor hiking hockey horses island jazz journal kernel language law league lighting linux machine marathon math medicine memory metal
museum nature ocean opera parking pattern physics piano planet poetry police prison protein railway religion river robots school sculpture
secure signal sleep soccer soil statistics storm surgery tax tennis theory tools trade transport valley verify village vintage violin water
weather wedding whale wine winter wood yoga zebra
""".split()
LANGUAGES = "en de fr es it pt nl pl ru ja zh ko tr sv da fi cs en-us en-gb de-de fr-fr pt-br zh-cn es-mx".split()
INTERNAL_HOSTS = """
10.0.0.DAY 10.1.DAY.DAY 192.168.0.DAY 192.168.1.DAY 172.16.DAY.DAY 127.0.0.1 localhost jenkins.example.com gitlab.example.com
intranet.example.com
""".split()
PORTS = "8080 8443 3000 8000 5000 9000 9090 8888 4443 81".split()
# The share of URLs on internal hosts.
INTERNAL = 0.02
# The share of paths that are random combinations of words.
COMBINED = 0.4
FORMS = {kind: text.split() for kind, text in PAGES.items()}


def fill(form: str, pick: random.Random) -> str:
    words = WORDS + MORE_WORDS
    makers = (
        ("ACCOUNT", lambda: pick.choice(ACCOUNT_WORDS)),
        ("PAYMENT", lambda: pick.choice(PAYMENT_WORDS)),
        ("WORD", lambda: pick.choice(words)),
        ("NAME", lambda: pick.choice(NAMES)),
        ("NUMBER", lambda: str(pick.randint(1, 10 ** pick.randint(2, 9)))),
        ("YEAR", lambda: str(pick.randint(1998, 2026))),
        ("MONTH", lambda: f"{pick.randint(1, 12):02}"),
        ("DAY", lambda: str(pick.randint(1, 28))),
        ("LANG", lambda: pick.choice(LANGUAGES)),
        ("HEX", lambda: "".join(pick.choices("0123456789abcdef", k=pick.choice([8, 10, 16, 32, 40])))),
        ("ID", lambda: "".join(pick.choices(LETTERS, k=pick.choice([6, 7, 8, 11, 20, 33])))),
    )
    for part, make in makers:
        while part in form:
            form = form.replace(part, make(), 1)
    return form


def combined(kind: str, pick: random.Random) -> str:
    """A path of random words, with parameters or without."""
    word = {"sign-in": "ACCOUNT", "shop": "PAYMENT"}.get(kind, "WORD")
    segments = [word, word, word, "WORD", "NUMBER", "LANG", "ID", f"{word}-{word}", f"{word}-WORD"]
    parts = [pick.choice(segments) for _ in range(pick.randint(1, 3))]
    path = "/" + "/".join([*parts[:-1], word]) + pick.choice(ACCOUNT_ENDINGS)
    return fill(path + (pick.choice(PARAMETERS) if pick.random() < 0.35 else ""), pick)


def page(name: str, pick: random.Random) -> tuple[str, str]:
    """A URL on a site, and its kind."""
    kind = pick.choice([*FORMS, "sign-in", "shop", "tracked"])
    host = fill(pick.choice(INTERNAL_HOSTS), pick) if pick.random() < INTERNAL else name
    if host == name and pick.random() < 0.4:
        host = f"{pick.choice(SUBDOMAINS[kind])}.{host}"
    is_internal = host[0].isdigit() or "example" in host or host == "localhost"
    port = f":{pick.choice(PORTS)}" if pick.random() < (0.5 if is_internal else 0.02) else ""
    path = combined(kind, pick) if pick.random() < COMBINED else fill(pick.choice(FORMS[kind]), pick)
    return f"https://{host}{port}{path}", kind


def rows(domains: Sequence[str], seed: int, each: int, split: str = "train") -> list[Row]:
    """Pages of each domain."""
    pick = random.Random(seed)
    held = {normalised(line) for line in HELD_OUT.read_text().splitlines()}
    found = []
    for domain in (domain for domain in domains for _ in range(each)):
        url, kind = page(domain, pick)
        if normalised(url) not in held:
            found.append(Row(url, 0, "ordinary_pages", kind=kind, split=split))
    return found


def path_of(url: str) -> str:
    """The path and query of a URL; empty for a front page."""
    return re.sub(r"^(?:[a-z]+:/*)?[^/?#]*", "", url).rstrip("/")


def moved(rows: Sequence[Row], domains: Sequence[str], seed: int, each: int) -> list[Row]:
    """Pages with the paths of other pages on ordinary sites.

    Paths from the feeds keep their label there: phishing kits and malware are mostly on hacked ordinary sites.
    """
    pick = random.Random(seed)
    found = []
    for row in rows:
        path = path_of(row.text)
        for _ in range(each if path else 0):
            url = f"https://{pick.choice(domains)}/{path.lstrip('/')}"
            found.append(Row(url, row.label, "moved_pages", row.weight, split="train"))
    return found
