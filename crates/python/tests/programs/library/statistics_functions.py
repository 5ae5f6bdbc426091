import statistics as st
x = [1, 2, 2, 3, 10]
print(st.mean(x), st.median(x), st.mode(x), st.stdev(x), st.pstdev(x), st.variance(x), st.pvariance(x), st.fmean(x), st.median_low([1, 2, 3, 4]), st.median_high([1, 2, 3, 4]), st.median([1, 2]), st.multimode('aabbc'), st.geometric_mean([1, 2, 4]), st.harmonic_mean([1, 2, 4]), st.quantiles(x), st.quantiles(range(11), n=5, method='inclusive'))
y = [0.1, 0.2, 0.35, 0.7]
print(st.mean(y), st.stdev(y), st.variance(y), st.mean([1, 2]), st.mean([2, 4]), st.correlation([1, 2, 3], [2, 4, 7]), st.covariance([1, 2, 3], [2, 4, 7]), st.linear_regression([1, 2, 3], [2, 4, 6]))
for f in (lambda: st.mean([]), lambda: st.stdev([1]), lambda: st.median([]), lambda: st.mode([])):
    try:
        f()
    except st.StatisticsError as e:
        print(e)
