for epoch in range(2):
    for step, loss in enumerate([0.693147, 12.5, 1e-7]):
        print('Epoch [%d/%d], Step [%d], Loss: %.4f (%.2e)' % (epoch + 1, 2, step, loss, loss))
print('Accuracy: %2d%%' % (100 * 45 / 60), '%.3f%s' % (0.5, 's'), 'lr=%g' % 0.001, '%6.2f%%' % 12.345)
print('{:4d}/{:4d} | loss {:.6f} | {:>8s}'.format(5, 100, 0.1234567, 'ok'))
print(f'{"epoch":<10}{"loss":>10}{"acc":>10}')
print(f'{1:<10}{0.5:>10.4f}{0.875:>10.2%}')
