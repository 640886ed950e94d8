"""Functions in Python that a written module has, each where it is asked for."""

NUMBER = '''
def number(row, name):
    """Return a value as a float, NaN where it is missing."""
    value = row[name]
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return math.nan
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name!r} must be a number or missing; got {value!r}.") from None
    if math.isinf(value):
        raise ValueError(f"{name!r} must be finite or missing; got {value}.")
    return value
'''

LABEL = '''
def label(row, name):
    """Return a category, None where it is missing."""
    value = row[name]
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name!r} must be text or missing; got {value!r}.")
    return value
'''

PART = '''
def part(row, name, what):
    """Return the days since 1970-01-01, the year, month, day of the week (Monday is 1) or hour of a date or time.

    It may be a date, a datetime, NumPy's datetime64 or a text such as 2024-02-29 or 2024-02-29T13:45:00+01:00, and is
    read in UTC if it has a zone; the part is NaN where it is missing.
    """
    value = row[name]
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return math.nan
    moment = value.astype("datetime64[us]").item() if type(value).__name__ == "datetime64" else value
    try:
        moment = datetime.datetime.fromisoformat(moment if isinstance(moment, str) else moment.isoformat())
    except (AttributeError, ValueError):
        raise ValueError(f"{name!r} must be a date, a time, a text of one or missing; got {value!r}.") from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone.utc)
    if what == "date":
        return float(moment.toordinal() - 719163)
    return float(moment.isoweekday() if what == "weekday" else getattr(moment, what))
'''

SIGMOID = '''
def sigmoid(z):
    """Return 1 / (1 + exp(-z)) without overflow."""
    return 1.0 / (1.0 + math.exp(-z)) if z >= 0.0 else math.exp(z) / (1.0 + math.exp(z))
'''

STEPS = '''
def curve(score, first, pieces, last):
    """Follow a curve of straight pieces (end, slope, start, level), level before and after them."""
    if not pieces or score < pieces[0][2]:
        return first
    for end, slope, start, level in pieces:
        if score < end:
            return slope * (score - start) + level
    return last
'''

NORMALISE = '''
def normalise(shares, scores):
    """Divide by the sum; where that is 0 the largest score takes all."""
    if sum(shares) == 0.0:
        shares[scores.index(max(scores))] = 1.0
    total = sum(shares)
    return [share / total for share in shares]
'''

EXPONENTIAL = '''
def exponential(score):
    """Return exp(score), infinite where that is too large."""
    try:
        return math.exp(score)
    except OverflowError:
        return math.inf
'''

LOGARITHM = '''
def logarithm(exposure):
    """Return log(exposure), which adds to a score as the exposure multiplies the rate."""
    try:
        known = float(exposure)
    except (TypeError, ValueError):
        known = math.nan
    if not 0.0 < known < math.inf:
        raise ValueError(f"The exposure must be a number above 0; got {exposure!r}.")
    return math.log(known)
'''

SURVIVAL = '''
def survival(row, time):
    """Return the chance of a row to be without the event at a time."""
    if not 0.0 <= time < math.inf:
        raise ValueError(f"The time must be a number from 0 on; got {time!r}.")
    place = bisect.bisect_right(TIMES, time)
    hazard = HAZARDS[place - 1] if place else 0.0
    return math.exp(-hazard * predict(row))
'''
