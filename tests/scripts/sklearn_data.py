import numpy as np, torch
from sklearn.datasets import make_moons, make_circles, make_blobs, make_regression, load_iris, load_digits
from sklearn.model_selection import train_test_split, KFold
from sklearn.preprocessing import StandardScaler, MinMaxScaler, LabelEncoder
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, confusion_matrix, mean_squared_error, r2_score, roc_auc_score
X,y=make_moons(10,noise=0.1,random_state=42); print(np.round(X,4), y)
X,y=make_circles(9,noise=0.03,random_state=42,factor=0.5); print(np.round(X,4), y)
X,y=make_blobs(n_samples=10,n_features=2,centers=4,cluster_std=1.5,random_state=42); print(np.round(X,4), y)
X,y,c=make_regression(12,3,n_informative=2,noise=5.0,random_state=0,coef=True); print(np.round(X,4), np.round(y,3), np.round(c,3))
i=load_iris(); print(i.data.shape, i.target[:5], i.data[:3], [str(n) for n in i.target_names], i.feature_names)
d=load_digits(); print(d.data.shape, d.images[0], d.target[:10])
X,y=load_iris(return_X_y=True)
a,b,c,e=train_test_split(X,y,test_size=0.2,random_state=42); print(a.shape,b.shape,e)
a,b,c,e=train_test_split(X,y,test_size=0.3,random_state=1,stratify=y); print(c[:20], e)
t1,t2=train_test_split(torch.arange(10),test_size=3,random_state=0); print(t1,t2)
l1,l2=train_test_split(list('abcdefgh'),random_state=0); print(l1,l2)
s=StandardScaler(); z=s.fit_transform(X); print(np.round(z[:2],4), np.round(s.mean_,4), np.round(s.inverse_transform(z)[:2],4))
print(np.round(MinMaxScaler((-1,1)).fit_transform(X)[:2],4)); le=LabelEncoder(); print(le.fit_transform(['b','a','c','a']), [str(n) for n in le.inverse_transform([0,2])])
p=[0,1,1,0,2,2,1]; q=[0,1,0,0,2,1,1]; print(accuracy_score(p,q), round(f1_score(p,q,average='macro'),5), round(precision_score(p,q,average='weighted'),5), recall_score(p,q,average='micro'), confusion_matrix(p,q))
print(mean_squared_error([1.,2.],[2.,4.]), r2_score([1.,2.,3.],[1.1,1.9,3.2]), roc_auc_score([0,0,1,1],[0.1,0.4,0.35,0.8]))
for tr,te in KFold(3,shuffle=True,random_state=0).split(X[:7]): print(tr,te)
