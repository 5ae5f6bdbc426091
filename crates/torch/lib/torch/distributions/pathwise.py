"""How samples move with the parameters that they were drawn with: `standard_gamma_grad_one` and `dirichlet_grad_one` of
ATen/native/Distributions.h, number by number."""

import math

_GAMMA = ((0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084),
          (0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
          (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07))

_BETA_OVER = (((1.003668233, -0.01061107488, -0.0657888334, 0.01201642863), (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
               (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013)),
              ((0.221950385, -0.3187676331, 0.01799915743, 0.01074823814), (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
               (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05)),
              ((-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565), (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
               (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05)))
_BETA_UNDER = (((1, -0.02924021934, -0.04438342661, 0.007285809825), (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
                (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149)),
               ((0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273), (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
                (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05)),
               ((0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05), (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
                (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06)))


def _digamma(x):
    below = 0.0
    while x < 10:
        below -= 1 / x
        x += 1
    z = 1 / (x * x)
    return below + math.log(x) - 0.5 / x - z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z / 132))))


def _cubic(c, x):
    return c[0] + x * (c[1] + x * (c[2] + x * c[3]))


def standard_gamma(alpha, x):
    """Of a sample `x` of Gamma(alpha, 1), by alpha."""
    if x <= 0.0:
        return 0.0
    if x < 0.8:
        numer, denom = 1.0, alpha
        one, two = 1 / denom, 1 / (denom * denom)
        for i in range(1, 6):
            numer *= -x / i
            denom += 1
            one += numer / denom
            two += numer / (denom * denom)
        # The powers of x in the distribution and in its density leave x itself.
        return -x * math.exp(x) * ((math.log(x) - _digamma(alpha)) * one - two)
    if alpha > 8.0:
        if 0.9 * alpha <= x <= 1.1 * alpha:
            first = 1 + 24 * alpha * (1 + 12 * alpha)
            second = 1440 * alpha ** 2 + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
            return first * second / (1244160 * alpha ** 4)
        denom = math.sqrt(8 * alpha)
        third = (x - alpha - alpha * math.log(x / alpha)) ** -1.5
        both = denom / (alpha - x) + (-third if x < alpha else third)
        term = math.log(x / alpha) * both - math.sqrt(2 / alpha) * (alpha + x) / (alpha - x) ** 2
        return -(1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))) * x * term / denom
    u, v = math.log(x / alpha), math.log(alpha)
    c = [a + u * (b + u * c) for a, b, c in zip(*_GAMMA)]
    return math.exp(_cubic(c[:4], v) / _cubic(c[4:], v))


def _near_zero_by_alpha(x, alpha, beta):
    factor = _digamma(alpha) - _digamma(alpha + beta) - math.log(x)
    numer, series = 1.0, 1 / alpha * (factor + 1 / alpha)
    for i in range(1, 11):
        numer *= (i - beta) * x / i
        series += numer / (alpha + i) * (factor + 1 / (alpha + i))
    return x * (1 - x) ** -beta * series


def _near_zero_by_beta(x, alpha, beta):
    factor = _digamma(alpha + beta) - _digamma(beta)
    numer, betas, dbetas, series = 1.0, 1.0, 0.0, factor / alpha
    for i in range(1, 9):
        numer *= -x / i
        dbetas = dbetas * (beta - i) + betas
        betas *= beta - i
        series += numer / (alpha + i) * (dbetas + factor * betas)
    return -(1 - x) ** (1 - beta) * series


def _both_large(x, alpha, beta):
    total = alpha + beta
    mean = alpha / total
    std = math.sqrt(alpha * beta / (total + 1)) / total
    if mean - 0.1 * std <= x <= mean + 0.1 * std:
        poly = 47 * x * beta ** 4 + alpha * ((43 + 20 * (16 + 27 * beta) * x) * beta ** 3 + alpha * (
            3 * (59 + 180 * beta - 90 * x) * beta ** 2 + alpha * (
                (453 + 1620 * beta * (1 - x) - 455 * x) * beta + alpha * (8 * (1 - x) * (135 * beta - 11)))))
        over = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
        return over / (1 - x) * poly / (12960 * alpha ** 3 * beta ** 2 * (1 + 12 * total))
    stirling = 1.0
    for n, power in ((alpha, 1), (beta, 1), (total, -1)):
        stirling *= (1 + 1 / (12 * n) + 1 / (288 * n * n)) ** power
    axbx = alpha * (x - 1) + beta * x
    first = (2 * alpha ** 2 * (x - 1) + alpha * beta * (x - 1) - x * beta ** 2) / (math.sqrt(2 * alpha / beta) * total ** 1.5 * axbx * axbx)
    third = math.sqrt(8 * alpha * beta / total) / axbx
    fourth = (beta * math.log(beta / (total * (1 - x))) + alpha * math.log(alpha / (total * x))) ** -1.5
    sums = first + 0.5 * math.log(alpha / (total * x)) * (third + (fourth if x < mean else -fourth))
    return stirling * -x / math.sqrt(2 * alpha * beta / total) * sums


def dirichlet(x, alpha, total):
    """Of a part `x` of a sample of Dirichlet's, by its concentration, over `1 - x`."""
    beta = total - alpha
    if x <= 0.0 or x >= 1.0:
        return 0.0
    boundary = total * x * (1 - x)
    if x <= 0.5 and boundary < 2.5:
        return _near_zero_by_alpha(x, alpha, beta)
    if x >= 0.5 and boundary < 0.75:
        return -_near_zero_by_beta(1 - x, beta, alpha)
    if alpha > 6 and beta > 6:
        return _both_large(x, alpha, beta)
    u = math.log(x)
    a = math.log(alpha) - u
    b = math.log(total) - a
    over = under = 0.0
    for i in range(3):
        for j in range(3):
            over += u ** i * a ** j * _cubic(_BETA_OVER[i][j], b)
            under += u ** i * a ** j * _cubic(_BETA_UNDER[i][j], b)
    return over / under * x * (_digamma(total) - _digamma(alpha)) / beta
