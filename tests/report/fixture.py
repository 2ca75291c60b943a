"""A synthetic results.jsonl with all experiments, always the same: python3 fixture.py FILE"""

import json
import math
import random
import sys

PAPER = {1: (34520, 38, 4), 27: (922056, 38, 5), 54: (1842728, 79, 6), 81: (2765400, 126, 10),
         108: (3721208, 170, 12), 135: (4642880, 210, 15), 512: (17478016, 907, 26)}
PROFILES = {"nnob12": {"material": "aand-aot", "columns": "theorem", "softspoken_k": 0},
            "fast": {"material": "triples", "columns": "-", "softspoken_k": 2}}
PHASES = {
    "nnob12": ({"aBits: columns": 41, "aBits: check": 5, "aBits: amplification": 27,
                "leaky objects": 14, "buckets": 2, "fold and store": 6, "end of store": 1}, 0.62),
    "fast": ({"plain bits": 30, "leaky triples": 45, "layers": 6, "fold and store": 10,
              "end of store": 4}, 0.043)}


class Generator:
    def __init__(self) -> None:
        self.random = random.Random("tinyot report")
        self.rows: list[dict] = []

    def near(self, value: float) -> float:
        return value * self.random.uniform(0.95, 1.05)

    def add(self, experiment: str, kind: str, command: str, **fields: object) -> None:
        minute = len(self.rows)
        row = {"experiment": experiment, "kind": kind, "command": f"tinyot bench {command}",
               "date": f"2026-11-22T{20 + minute // 60:02}:{minute % 60:02}:05Z",
               "version": "0.2.0+7a70d71", "compiler": "GCC 12.2.0",
               "machine": {"cpu": "AMD EPYC, 3.2 GHz", "features": ["AVX2", "VAES", "SHA-NI"],
                           "cores": 2},
               "load": round(self.random.uniform(0, 0.3), 2), "repeats": 3, "link": "loopback",
               "rtt_ms": 0.0, "rate_mbit": 0.0, "tls": "no"}
        self.rows.append(row | fields)

    def offline(self, experiment: str, profile: str, ands: int, unit: int, bucket: int, sigma: int,
                **link: object) -> None:
        is_fast = profile == "fast"
        bits = math.log2(2 * unit) * (bucket - 1)
        rtt_s, rate = link.get("rtt_ms", 0.0) / 1e3, link.get("rate_mbit", 0.0) * 1e6
        bytes_per_and = bucket * (81 if is_fast else 3630) + (3e5 if is_fast else 4e6) / unit
        phases, set_up = PHASES[profile]
        tls = 1.6 if link.get("tls") == "yes" else 1
        per_and = max((0.09 if is_fast else 3.3) * 1e-6 * bucket * tls,
                      4 * bytes_per_and / rate if rate else 0)
        wall = set_up + self.near(8 * rtt_s + ands * per_and
                                  + math.ceil(ands / unit) * 6 * rtt_s)
        rate_of_ands, gates_then = ands / wall, ands / 6400 * 34520 / (wall - set_up)
        total = sum(phases.values())
        self.add(experiment, "offline", f"offline --profile {profile} --unit {unit} --bucket "
                 f"{bucket} --sigma {sigma} --ands {ands} --store no --repeat 3 --allow-weak",
                 profile=profile, **PROFILES[profile], unit=unit, ands=ands, threads=1,
                 bucket=bucket, sigma=sigma, sigma_paper_bound=bits, sigma_exact=bits + bucket / 2,
                 weak=bits < sigma, units=[{"ands": unit, "bucket": bucket, "count": ands // unit,
                                            "bound_paper": bits, "bound_exact": bits + bucket / 2}],
                 ands_per_s=rate_of_ands, ands_per_s_min=rate_of_ands * 0.9,
                 ands_per_s_max=rate_of_ands * 1.06, gates_per_s=rate_of_ands / 6400 * 34520,
                 gates_per_s_then=gates_then, gates_per_s_then_min=gates_then * 0.88,
                 gates_per_s_then_max=gates_then * 1.09,
                 wall_s=wall, set_up_s=set_up, us_per_and_then=1e6 * (wall - set_up) / ands,
                 bytes_per_and=bytes_per_and, rounds=90, round_trips_per_unit=10.5,
                 cpu_s=wall * 0.9, cpu_us_per_and=1e6 * wall * 0.9 / ands,
                 peak_rss_bytes=int(9e6 + min(ands, 2 * unit) * (220 if is_fast else 860)),
                 units_in_flight=1, latency_ms=0.1, stored="no",
                 phases={"base OTs": set_up} | {name: (wall - set_up) * share / total
                                                for name, share in phases.items()}, **link)

    def online(self, circuit: str, ands: int, layers: int, lanes: int, rtt_ms: float,
               rate_mbit: float = 0.0, asked: str = "interactive",
               experiment: str = "online links") -> None:
        compute, trips = 7.5e-8 * ands * lanes, layers * rtt_ms / 1e3
        wall = self.near(compute + trips + 0.001)
        store = 0.2 * compute / wall
        self.add(experiment, "online", f"online --circuit '{circuit}' --lanes {lanes} "
                 f"--online {asked} --rtt {rtt_ms}ms", circuit=circuit, lanes=lanes,
                 online_asked=asked, ands=ands * lanes, wall_s=wall,
                 wall_s_min=wall * 0.97, wall_s_max=wall * 1.12, ands_per_s=ands * lanes / wall,
                 gates_per_s=4.8 * ands * lanes / wall, rounds=layers,
                 bits_per_and=4 + 3e4 / ands / lanes, cpu_s=compute, share_wire=trips / wall * 0.95,
                 share_store=store, share_opening=store / 2 if lanes > 1 else None,
                 share_macs=0.3 * compute / wall, peak_rss_bytes=11_000_000,
                 profile="fast", material="triples", live=False, sigma=40, unit=ands * lanes,
                 bucket=3 if lanes > 1 else 5,
                 link=f"{rtt_ms:g}ms" if rtt_ms else "loopback", rtt_ms=rtt_ms,
                 rate_mbit=rate_mbit)


    def ots(self, experiment: str, kind: str, k: int, silent_set: str = "-") -> None:
        rate = self.near(1e8 / k)
        is_silent = silent_set != "-"
        self.add(experiment, "ot", f"ot --kind {kind} --softspoken-k {k} --silent-set {silent_set}",
                 ot_kind=kind, softspoken_k=k, silent_set=silent_set, ots=2 ** 22, ots_per_s=rate,
                 ots_per_s_min=rate * 0.9, ots_per_s_max=rate * 1.05,
                 ots_per_cpu_s_sender=rate * 1.1, ots_per_cpu_s_receiver=rate * 1.2,
                 bytes_per_ot=16 / k, start_s=0.02 if is_silent else 0,
                 start_bytes=500_976 if is_silent else 0)

    def tables(self) -> None:
        """The experiments that have no figure."""
        for kind in ("abits", "random"):
            for k in (1, 2):
                self.ots("OT extension", kind, k)
        for silent_set in ("b9", "b12"):
            self.ots("silent bits", "silent", 4, silent_set)
        for kind in ("base-ristretto", "base-ml-kem"):
            self.ots("base OTs", kind, 2)
        for profile in PROFILES:
            for stored in ("no", "yes"):
                self.offline("store", profile, 2 ** 20, 2 ** 20, 3, 40)
                self.rows[-1]["stored"] = stored
            for rate in (10.0, 100.0):
                self.offline("slow links", profile, 2 ** 18, 2 ** 18, 4, 40, rtt_ms=40.0,
                             rate_mbit=rate, link=f"40ms {rate:g}mbit")
            for tls in ("no", "yes"):
                self.offline("TLS", profile, 2 ** 20, 2 ** 20, 3, 40, tls=tls)
        for circuit, ands, layers in (("aes128", 6400, 60), ("sort", 1_540_032, 1815)):
            self.online(circuit, ands, layers, 1, 0.0, 0.0, "auto", "circuits")
        for lanes in (1, 512):
            for asked, is_later in (("interactive", False), ("masked", False), ("masked", True)):
                self.online("aes128", 6400, 60, lanes, 0.0, 0.0, asked, "prepared runs")
                self.rows[-1] |= {"inputs_later": is_later, "half_round_trips": 63,
                                  "prepare_s": 0.04 if is_later else 0}


def rows() -> list[dict]:
    made = Generator()
    for profile in PROFILES:
        for exponent in (10, 12, 14, 16, 18, 20):
            for bucket in range(2, 10):
                bits = (exponent + 1) * (bucket - 1)
                sigma = max((s for s in (40, 64, 80) if s <= bits), default=40)
                made.offline("buckets", profile, 2 ** exponent, 2 ** exponent, bucket, sigma)
    for profile in PROFILES:
        for rate in (0.0, 1000.0, 100.0):
            for tls in ("no", "yes"):
                for rtt in (0.0, 0.2, 1.0, 5.0, 20.0, 50.0, 150.0):
                    if rtt or not rate:
                        name = f"{rtt:g}ms {rate:g}mbit" if rtt else "loopback"
                        made.offline("links", profile, 2 ** 20, 2 ** 18, 4, 40, rtt_ms=rtt,
                                     rate_mbit=rate, tls=tls, link=name)
    for circuit, ands, layers in (("aes128", 6400, 60), ("sha256:bytes=55", 22113, 1600)):
        for lanes in (1, 512):
            for rtt in (0.0, 0.2, 1.0, 5.0, 20.0, 50.0, 150.0):
                made.online(circuit, ands, layers, lanes, rtt)
    for circuit, ands, layers in (("aes128", 6400, 60), ("sha256:bytes=55", 22113, 1600)):
        for rtt in (0.2, 20.0, 100.0):
            for asked, trips in (("interactive", layers), ("garbled", 5), ("auto", 5)):
                made.online(circuit, ands, trips, 1, rtt, 100.0, asked, "online phases")
    for profile, columns in (("nnob12", "theorem"), ("nnob12", "experiment"), ("fast", "-")):
        speed = {"theorem": 1.2e-5, "experiment": 6e-6, "-": 3e-7}[columns]
        for blocks, (gates, paper_offline, paper_online) in PAPER.items():
            offline = made.near(0.1 + blocks * 6400 * speed)
            online = made.near(0.002 + blocks / 3e3)
            made.add("blocks", "blocks", f"fig17 --profile {profile} --max-blocks 512",
                     profile=profile, columns=columns, blocks=blocks, paper_gates=gates,
                     offline_s=offline, online_s=online, gates_per_s=gates / (offline + online),
                     paper_offline_s=paper_offline, paper_online_s=paper_online,
                     paper_gates_per_s=gates / (paper_offline + paper_online),
                     unit=6400 * blocks, bucket=3 if blocks > 27 else 5, sigma=40,
                     sigma_paper_bound=54.6, sigma_exact=55.6, repeats=1)
    for profile in PROFILES:
        for exponent in range(10, 25, 2):
            unit = 2 ** min(exponent, 20)
            bucket = next(b for b in range(2, 9) if math.log2(2 * unit) * (b - 1) >= 40)
            made.offline("sizes", profile, 2 ** exponent, unit, bucket, 40)
    made.tables()
    return made.rows


def text_of(some: list[dict]) -> str:
    return "".join(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"
                   for row in some)


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(text_of(rows()))
